package catalog

import "strings"

// macros are the functions that are written in SQL, by name: each with its
// parameters and what a call of it stands for. A parameter is computed wherever
// it is named, so only what is cheap or an aggregate's is named twice.
var macros = []struct {
	Doc
	body string
}{
	{Doc{`date_add(x, interval)`, `a later date or timestamp`, `date_add(DATE '2024-01-31', INTERVAL '1 month')`}, `x + interval`},
	{Doc{`fdiv(x, y)`, `the quotient without a fraction, as DOUBLE`, `fdiv(7, 2)`}, `floor(x::DOUBLE / y)`},
	{Doc{`yearweek(x)`, `the ISO year and week, as one number`, `yearweek(DATE '2024-12-30')`}, `isoyear(x) * 100 + week(x)`},
	{Doc{`epoch_ns(x)`, `nanoseconds since 1970`, `epoch_ns(TIMESTAMP '1970-01-01 00:00:01')`}, `epoch_us(x) * 1000`},
	{Doc{`like_escape(x, pattern, c)`, `x LIKE pattern ESCAPE c`, `like_escape('a%b', 'a$%b', '$')`}, `x LIKE pattern ESCAPE c`},
	{Doc{`not_like_escape(x, pattern, c)`, `the opposite`, `not_like_escape('a%b', 'a$%b', '$')`}, `x NOT LIKE pattern ESCAPE c`},
	{Doc{`ilike_escape(x, pattern, c)`, `x ILIKE pattern ESCAPE c`, `ilike_escape('A%b', 'a$%b', '$')`}, `x ILIKE pattern ESCAPE c`},
	{Doc{`not_ilike_escape(x, pattern, c)`, `the opposite`, `not_ilike_escape('A%b', 'a$%b', '$')`}, `x NOT ILIKE pattern ESCAPE c`},
	{Doc{`get_current_timestamp()`, `now()`, `get_current_timestamp() = now()`}, `now()`},
	{Doc{`transaction_timestamp()`, `now()`, `transaction_timestamp() = now()`}, `now()`},
	{Doc{`current_localtimestamp()`, `now without a zone`, `current_localtimestamp() = localtimestamp`}, `localtimestamp`},
	{Doc{`sem(x)`, `the standard error of the mean`, `round(sem(x), 4) FROM (VALUES (1), (2), (4)) AS t (x)`}, `stddev_pop(x) / sqrt(count(x))`},
	{Doc{`skewness(x)`, `how far values lean to one side`, `round(skewness(x), 4) FROM (VALUES (1), (2), (4)) AS t (x)`},
		`CASE WHEN count(x) > 2 AND var_pop(x) > 0 THEN sqrt(count(x)::DOUBLE * (count(x) - 1)) / (count(x) - 2) *
			(sum(x::DOUBLE ^ 3) / count(x) - 3 * avg(x::DOUBLE) * sum(x::DOUBLE ^ 2) / count(x) + 2 * avg(x::DOUBLE) ^ 3) / var_pop(x::DOUBLE) ^ 1.5 END`},
	{Doc{`kurtosis_pop(x)`, `how heavy the tails are, of a whole population`, `round(kurtosis_pop(x), 4) FROM (VALUES (1), (2), (4)) AS t (x)`},
		`CASE WHEN count(x) > 1 AND var_pop(x) > 0 THEN (sum(x::DOUBLE ^ 4) / count(x) - 4 * avg(x::DOUBLE) * sum(x::DOUBLE ^ 3) / count(x) +
			6 * avg(x::DOUBLE) ^ 2 * sum(x::DOUBLE ^ 2) / count(x) - 3 * avg(x::DOUBLE) ^ 4) / var_pop(x::DOUBLE) ^ 2 - 3 END`},
	{Doc{`kurtosis(x)`, `the same, of a sample`, `round(kurtosis(x), 4) FROM (VALUES (1), (2), (4), (9)) AS t (x)`},
		`CASE WHEN count(x) > 3 THEN ((count(x)::DOUBLE + 1) * (kurtosis_pop(x) + 3) - 3 * (count(x)::DOUBLE - 1)) * (count(x)::DOUBLE - 1) /
			((count(x)::DOUBLE - 2) * (count(x)::DOUBLE - 3)) END`},
	{Doc{`mad(x)`, `an aggregate: the median of the distances from the median`, `mad(x) FROM (VALUES (1), (2), (4), (9)) AS t (x)`},
		`list_aggregate(list_transform(list(x), y -> abs(y - list_aggregate(list(x), 'median'))), 'median')`},
	{Doc{`approx_quantile(x, fraction)`, `quantile_disc, which is exact`, `approx_quantile(x, 0.5) FROM (VALUES (1), (2), (4)) AS t (x)`}, `quantile_disc(x, fraction)`},
	{Doc{`reservoir_quantile(x, fraction)`, `the same`, `reservoir_quantile(x, 0.5) FROM (VALUES (1), (2), (4)) AS t (x)`}, `quantile_disc(x, fraction)`},
	{Doc{`histogram(x)`, `an aggregate: a map of the values to how often they come`, `histogram(x) FROM (VALUES (1), (2), (1)) AS t (x)`}, `list_histogram(list(x))`},
	{Doc{`json_group_object(key, value)`, `an aggregate: an object of keys and values; json_object_agg is the same`, `json_group_object(x, x * 2) FROM (VALUES (1), (2)) AS t (x)`},
		`to_json(map(list(key), list(value)))`},
	{Doc{`geomean(x)`, `an aggregate: the geometric mean; geometric_mean is the same`, `round(geomean(x), 4) FROM (VALUES (1), (2), (4)) AS t (x)`}, `exp(avg(ln(x)))`},
	{Doc{`geometric_mean(x)`, `geomean`, `round(geometric_mean(x), 4) FROM (VALUES (1), (2), (4)) AS t (x)`}, `geomean(x)`},
	{Doc{`entropy(x)`, `an aggregate: how many bits a value tells`, `entropy(x) FROM (VALUES (1), (2), (1), (3)) AS t (x)`},
		`CASE WHEN count(x) > 0 THEN log2(count(x)) - list_sum([n * log2(n) FOR n IN map_values(histogram(x))]) / count(x) ELSE 0 END`},
	{Doc{`jsonb_object_agg(key, value)`, `json_group_object`, `jsonb_object_agg(x, x * 2) FROM (VALUES (1), (2)) AS t (x)`}, `json_group_object(key, value)`},
	{Doc{`json_object_agg(key, value)`, `json_group_object`, `json_object_agg(x, x * 2) FROM (VALUES (1), (2)) AS t (x)`}, `json_group_object(key, value)`},
}

// Macro is the function of that name that is written in SQL; nil if there is none.
func Macro(name string) *Function { return builtinMacros[strings.ToLower(name)] }

// builtinMacros is never written after it is made.
var builtinMacros = newMacros()

func newMacros() map[string]*Function {
	all := make(map[string]*Function, len(macros))
	for _, m := range macros {
		name, params, _ := strings.Cut(strings.TrimSuffix(m.Call, ")"), "(")
		f := &Function{Name: name, Macro: true, Body: "SELECT " + m.body}
		for _, p := range strings.Split(params, ", ") {
			if p != "" {
				f.Params = append(f.Params, Param{Name: p})
			}
		}
		all[name] = f
	}
	return all
}
