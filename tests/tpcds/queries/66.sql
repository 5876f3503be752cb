SELECT w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country, ship_carriers, year,
       sum(jan_sales) AS jan_sales, sum(feb_sales) AS feb_sales, sum(mar_sales) AS mar_sales, sum(dec_sales) AS dec_sales,
       sum(jan_sales / w_warehouse_sq_ft) AS jan_sales_per_sq_foot, sum(dec_sales / w_warehouse_sq_ft) AS dec_sales_per_sq_foot,
       sum(jan_net) AS jan_net, sum(dec_net) AS dec_net
FROM (SELECT w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country, 'DHL,BARIAN' AS ship_carriers, d_year AS year,
             sum(CASE WHEN d_moy = 1 THEN ws_ext_sales_price * ws_quantity ELSE 0 END) AS jan_sales,
             sum(CASE WHEN d_moy = 2 THEN ws_ext_sales_price * ws_quantity ELSE 0 END) AS feb_sales,
             sum(CASE WHEN d_moy = 3 THEN ws_ext_sales_price * ws_quantity ELSE 0 END) AS mar_sales,
             sum(CASE WHEN d_moy = 12 THEN ws_ext_sales_price * ws_quantity ELSE 0 END) AS dec_sales,
             sum(CASE WHEN d_moy = 1 THEN ws_net_paid * ws_quantity ELSE 0 END) AS jan_net,
             sum(CASE WHEN d_moy = 12 THEN ws_net_paid * ws_quantity ELSE 0 END) AS dec_net
      FROM web_sales, warehouse, date_dim, time_dim, ship_mode
      WHERE ws_warehouse_sk = w_warehouse_sk AND ws_sold_date_sk = d_date_sk AND ws_sold_time_sk = t_time_sk AND ws_ship_mode_sk = sm_ship_mode_sk
        AND d_year = 2001 AND t_time BETWEEN 30838 AND 30838 + 28800 AND sm_carrier IN ('DHL', 'BARIAN')
      GROUP BY w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country, d_year
      UNION ALL
      SELECT w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country, 'DHL,BARIAN', d_year,
             sum(CASE WHEN d_moy = 1 THEN cs_sales_price * cs_quantity ELSE 0 END),
             sum(CASE WHEN d_moy = 2 THEN cs_sales_price * cs_quantity ELSE 0 END),
             sum(CASE WHEN d_moy = 3 THEN cs_sales_price * cs_quantity ELSE 0 END),
             sum(CASE WHEN d_moy = 12 THEN cs_sales_price * cs_quantity ELSE 0 END),
             sum(CASE WHEN d_moy = 1 THEN cs_net_paid_inc_tax * cs_quantity ELSE 0 END),
             sum(CASE WHEN d_moy = 12 THEN cs_net_paid_inc_tax * cs_quantity ELSE 0 END)
      FROM catalog_sales, warehouse, date_dim, time_dim, ship_mode
      WHERE cs_warehouse_sk = w_warehouse_sk AND cs_sold_date_sk = d_date_sk AND cs_sold_time_sk = t_time_sk AND cs_ship_mode_sk = sm_ship_mode_sk
        AND d_year = 2001 AND t_time BETWEEN 30838 AND 30838 + 28800 AND sm_carrier IN ('DHL', 'BARIAN')
      GROUP BY w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country, d_year) x
GROUP BY w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country, ship_carriers, year
ORDER BY w_warehouse_name, w_warehouse_sq_ft
LIMIT 100;
