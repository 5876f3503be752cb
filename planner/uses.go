package planner

// Uses reports whether e reads column id. Plans in e are not looked into.
func Uses(e Expr, id ColumnID) bool {
	found := false
	walkExpr(e, func(e Expr) bool {
		if c, ok := e.(*Col); ok && c.ID == id {
			found = true
		}
		return !found
	})
	return found
}
