package tpcds

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// column is a column of a table; its kind is one of kinds.
type column struct {
	name string
	kind string
}

// A columnType is what a kind of column is for Arrow and in SQL. Decimals are
// made as numbers of hundredths, dates as days from 1970-01-01.
type columnType struct {
	arrow arrow.DataType
	sql   string
}

var kinds = map[string]columnType{
	"i": {arrow.PrimitiveTypes.Int32, "INTEGER"},
	"t": {arrow.BinaryTypes.String, "VARCHAR"},
	"d": {arrow.FixedWidthTypes.Date32, "DATE"},
	"p": {&arrow.Decimal128Type{Precision: 5, Scale: 2}, "DECIMAL(5,2)"},
	"m": {&arrow.Decimal128Type{Precision: 7, Scale: 2}, "DECIMAL(7,2)"},
	"w": {&arrow.Decimal128Type{Precision: 15, Scale: 2}, "DECIMAL(15,2)"},
}

// growth is how the rows of a table depend on a scale below 1.
type growth uint8

const (
	fixed growth = iota
	linear
	root
)

// Table is one of the 24 tables.
type Table struct {
	Name    string
	columns []column
	rows    int64 // at scale 1
	growth  growth
	key     []string // of the primary key
	// row makes a row of a dimension; facts are made order by order.
	row func(m *maker, i int64, b *builder)
}

// Rows is how many rows the table has at a scale.
func (t *Table) Rows(scale float64) int64 {
	switch t.growth {
	case fixed:
		return t.rows
	case linear:
		return int64(math.Round(float64(t.rows) * scale))
	case root:
		return int64(math.Round(float64(t.rows) * math.Sqrt(scale)))
	default:
		panic(fmt.Sprintf("tpcds: no growth %d", t.growth))
	}
}

// Schema is the table's Arrow schema.
func (t *Table) Schema() *arrow.Schema {
	fields := make([]arrow.Field, len(t.columns))
	for i, c := range t.columns {
		fields[i] = arrow.Field{Name: c.name, Type: kinds[c.kind].arrow, Nullable: !slices.Contains(t.key, c.name)}
	}
	return arrow.NewSchema(fields, nil)
}

// CreateSQL is the table's CREATE TABLE, without keys.
func (t *Table) CreateSQL() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (", t.Name)
	for i, c := range t.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.name + " " + kinds[c.kind].sql)
		if slices.Contains(t.key, c.name) {
			b.WriteString(" NOT NULL")
		}
	}
	b.WriteString(")")
	return b.String()
}

// columnsOf reads columns by their kinds, "kind: name name; kind: name", with
// the table's prefix left out.
func columnsOf(prefix, list string) []column {
	var out []column
	kind := ""
	for _, f := range strings.Fields(list) {
		if k, ok := strings.CutSuffix(f, ":"); ok {
			kind = k
			continue
		}
		out = append(out, column{prefix + "_" + f, kind})
	}
	return out
}

// Columns that several tables have.
const (
	revision = "d: rec_start_date rec_end_date "
	street   = "t: street_number street_name street_type suite_number city county state zip country p: gmt_offset "
	amounts  = "i: quantity m: wholesale_cost list_price sales_price ext_discount_amt ext_sales_price ext_wholesale_cost ext_list_price ext_tax coupon_amt "
	shipped  = "ext_ship_cost net_paid net_paid_inc_tax net_paid_inc_ship net_paid_inc_ship_tax net_profit "
	parties  = "bill_customer_sk bill_cdemo_sk bill_hdemo_sk bill_addr_sk ship_customer_sk ship_cdemo_sk ship_hdemo_sk ship_addr_sk "
	payees   = "refunded_customer_sk refunded_cdemo_sk refunded_hdemo_sk refunded_addr_sk returning_customer_sk returning_cdemo_sk returning_hdemo_sk returning_addr_sk "
)

// The tables.
var (
	dateDim = &Table{Name: "date_dim", rows: 73_049, key: []string{"d_date_sk"}, row: (*maker).date,
		columns: columnsOf("d", "i: date_sk t: date_id d: date i: month_seq week_seq quarter_seq year dow moy dom qoy "+
			"fy_year fy_quarter_seq fy_week_seq t: day_name quarter_name holiday weekend following_holiday "+
			"i: first_dom last_dom same_day_ly same_day_lq t: current_day current_week current_month current_quarter current_year")}
	timeDim = &Table{Name: "time_dim", rows: 86_400, key: []string{"t_time_sk"}, row: (*maker).time,
		columns: columnsOf("t", "i: time_sk t: time_id i: time hour minute second t: am_pm shift sub_shift meal_time")}
	reason = &Table{Name: "reason", rows: 35, key: []string{"r_reason_sk"}, row: (*maker).reason,
		columns: columnsOf("r", "i: reason_sk t: reason_id reason_desc")}
	shipMode = &Table{Name: "ship_mode", rows: 20, key: []string{"sm_ship_mode_sk"}, row: (*maker).shipMode,
		columns: columnsOf("sm", "i: ship_mode_sk t: ship_mode_id type code carrier contract")}
	incomeBand = &Table{Name: "income_band", rows: 20, key: []string{"ib_income_band_sk"}, row: (*maker).incomeBand,
		columns: columnsOf("ib", "i: income_band_sk lower_bound upper_bound")}
	household = &Table{Name: "household_demographics", rows: 7200, key: []string{"hd_demo_sk"}, row: (*maker).household,
		columns: columnsOf("hd", "i: demo_sk income_band_sk t: buy_potential i: dep_count vehicle_count")}
	demographics = &Table{Name: "customer_demographics", rows: 1_920_800, growth: root, key: []string{"cd_demo_sk"}, row: (*maker).demographics,
		columns: columnsOf("cd", "i: demo_sk t: gender marital_status education_status i: purchase_estimate t: credit_rating i: dep_count dep_employed_count dep_college_count")}
	address = &Table{Name: "customer_address", rows: 50_000, growth: linear, key: []string{"ca_address_sk"}, row: (*maker).address,
		columns: columnsOf("ca", "i: address_sk t: address_id "+street+"t: location_type")}
	customer = &Table{Name: "customer", rows: 100_000, growth: linear, key: []string{"c_customer_sk"}, row: (*maker).customer,
		columns: columnsOf("c", "i: customer_sk t: customer_id i: current_cdemo_sk current_hdemo_sk current_addr_sk first_shipto_date_sk "+
			"first_sales_date_sk t: salutation first_name last_name preferred_cust_flag i: birth_day birth_month birth_year "+
			"t: birth_country login email_address i: last_review_date_sk")}
	item = &Table{Name: "item", rows: 18_000, growth: root, key: []string{"i_item_sk"}, row: (*maker).item,
		columns: columnsOf("i", "i: item_sk t: item_id "+revision+"t: item_desc m: current_price wholesale_cost i: brand_id t: brand "+
			"i: class_id t: class i: category_id t: category i: manufact_id t: manufact size formulation color units container i: manager_id t: product_name")}
	promotion = &Table{Name: "promotion", rows: 300, key: []string{"p_promo_sk"}, row: (*maker).promotion,
		columns: columnsOf("p", "i: promo_sk t: promo_id i: start_date_sk end_date_sk item_sk w: cost i: response_target t: promo_name "+
			"channel_dmail channel_email channel_catalog channel_tv channel_radio channel_press channel_event channel_demo channel_details purpose discount_active")}
	catalogPage = &Table{Name: "catalog_page", rows: 11_718, key: []string{"cp_catalog_page_sk"}, row: (*maker).catalogPage,
		columns: columnsOf("cp", "i: catalog_page_sk t: catalog_page_id i: start_date_sk end_date_sk t: department i: catalog_number catalog_page_number t: description type")}
	warehouse = &Table{Name: "warehouse", rows: 5, key: []string{"w_warehouse_sk"}, row: (*maker).warehouse,
		columns: columnsOf("w", "i: warehouse_sk t: warehouse_id warehouse_name i: warehouse_sq_ft "+street)}
	store = &Table{Name: "store", rows: 12, key: []string{"s_store_sk"}, row: (*maker).store,
		columns: columnsOf("s", "i: store_sk t: store_id "+revision+"i: closed_date_sk t: store_name i: number_employees floor_space t: hours manager "+
			"i: market_id t: geography_class market_desc market_manager i: division_id t: division_name i: company_id t: company_name "+street+"tax_precentage")}
	callCenter = &Table{Name: "call_center", rows: 6, key: []string{"cc_call_center_sk"}, row: (*maker).callCenter,
		columns: columnsOf("cc", "i: call_center_sk t: call_center_id "+revision+"i: closed_date_sk open_date_sk t: name class i: employees sq_ft t: hours manager "+
			"i: mkt_id t: mkt_class mkt_desc market_manager i: division t: division_name i: company t: company_name "+street+"tax_percentage")}
	webSite = &Table{Name: "web_site", rows: 30, key: []string{"web_site_sk"}, row: (*maker).webSite,
		columns: columnsOf("web", "i: site_sk t: site_id "+revision+"t: name i: open_date_sk close_date_sk t: class manager i: mkt_id t: mkt_class mkt_desc market_manager "+
			"i: company_id t: company_name "+street+"tax_percentage")}
	webPage = &Table{Name: "web_page", rows: 60, key: []string{"wp_web_page_sk"}, row: (*maker).webPage,
		columns: columnsOf("wp", "i: web_page_sk t: web_page_id "+revision+"i: creation_date_sk access_date_sk t: autogen_flag i: customer_sk t: url type i: char_count link_count image_count max_ad_count")}

	inventory = &Table{Name: "inventory", rows: 11_745_000, growth: linear, key: []string{"inv_date_sk", "inv_item_sk", "inv_warehouse_sk"}, row: (*maker).inventory,
		columns: columnsOf("inv", "i: date_sk item_sk warehouse_sk quantity_on_hand")}
	storeSales = &Table{Name: "store_sales", rows: 2_880_404, growth: linear, key: []string{"ss_item_sk", "ss_ticket_number"},
		columns: columnsOf("ss", "i: sold_date_sk sold_time_sk item_sk customer_sk cdemo_sk hdemo_sk addr_sk store_sk promo_sk ticket_number "+
			amounts+"net_paid net_paid_inc_tax net_profit")}
	storeReturns = &Table{Name: "store_returns", rows: 287_514, growth: linear, key: []string{"sr_item_sk", "sr_ticket_number"},
		columns: columnsOf("sr", "i: returned_date_sk return_time_sk item_sk customer_sk cdemo_sk hdemo_sk addr_sk store_sk reason_sk ticket_number return_quantity "+
			"m: return_amt return_tax return_amt_inc_tax fee return_ship_cost refunded_cash reversed_charge store_credit net_loss")}
	catalogSales = &Table{Name: "catalog_sales", rows: 1_441_548, growth: linear, key: []string{"cs_item_sk", "cs_order_number"},
		columns: columnsOf("cs", "i: sold_date_sk sold_time_sk ship_date_sk "+parties+
			"call_center_sk catalog_page_sk ship_mode_sk warehouse_sk item_sk promo_sk order_number "+amounts+shipped)}
	catalogReturns = &Table{Name: "catalog_returns", rows: 144_067, growth: linear, key: []string{"cr_item_sk", "cr_order_number"},
		columns: columnsOf("cr", "i: returned_date_sk returned_time_sk item_sk "+payees+
			"call_center_sk catalog_page_sk ship_mode_sk warehouse_sk reason_sk order_number return_quantity "+
			"m: return_amount return_tax return_amt_inc_tax fee return_ship_cost refunded_cash reversed_charge store_credit net_loss")}
	webSales = &Table{Name: "web_sales", rows: 719_384, growth: linear, key: []string{"ws_item_sk", "ws_order_number"},
		columns: columnsOf("ws", "i: sold_date_sk sold_time_sk ship_date_sk item_sk "+parties+
			"web_page_sk web_site_sk ship_mode_sk warehouse_sk promo_sk order_number "+amounts+shipped)}
	webReturns = &Table{Name: "web_returns", rows: 71_763, growth: linear, key: []string{"wr_item_sk", "wr_order_number"},
		columns: columnsOf("wr", "i: returned_date_sk returned_time_sk item_sk "+payees+
			"web_page_sk reason_sk order_number return_quantity "+
			"m: return_amt return_tax return_amt_inc_tax fee return_ship_cost refunded_cash reversed_charge account_credit net_loss")}

	// Tables is in an order in which every foreign key comes after what it names.
	Tables = []*Table{dateDim, timeDim, reason, shipMode, incomeBand, household, demographics, address, customer, item,
		promotion, catalogPage, warehouse, store, callCenter, webSite, webPage, inventory,
		storeSales, storeReturns, catalogSales, catalogReturns, webSales, webReturns}
)
