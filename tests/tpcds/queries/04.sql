WITH year_total AS (
  SELECT c_customer_id AS customer_id, c_first_name AS customer_first_name, c_last_name AS customer_last_name,
         c_preferred_cust_flag AS customer_preferred_cust_flag, c_birth_country, c_login, c_email_address, d_year AS dyear,
         sum(((ss_ext_list_price - ss_ext_wholesale_cost - ss_ext_discount_amt) + ss_ext_sales_price) / 2) AS year_total, 's' AS sale_type
  FROM customer, store_sales, date_dim
  WHERE c_customer_sk = ss_customer_sk AND ss_sold_date_sk = d_date_sk
  GROUP BY c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_country, c_login, c_email_address, d_year
  UNION ALL
  SELECT c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_country, c_login, c_email_address, d_year,
         sum(((cs_ext_list_price - cs_ext_wholesale_cost - cs_ext_discount_amt) + cs_ext_sales_price) / 2), 'c'
  FROM customer, catalog_sales, date_dim
  WHERE c_customer_sk = cs_bill_customer_sk AND cs_sold_date_sk = d_date_sk
  GROUP BY c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_country, c_login, c_email_address, d_year
  UNION ALL
  SELECT c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_country, c_login, c_email_address, d_year,
         sum(((ws_ext_list_price - ws_ext_wholesale_cost - ws_ext_discount_amt) + ws_ext_sales_price) / 2), 'w'
  FROM customer, web_sales, date_dim
  WHERE c_customer_sk = ws_bill_customer_sk AND ws_sold_date_sk = d_date_sk
  GROUP BY c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_country, c_login, c_email_address, d_year
)
SELECT s2.customer_id, s2.customer_first_name, s2.customer_last_name, s2.customer_preferred_cust_flag
FROM year_total s1, year_total s2, year_total c1, year_total c2, year_total w1, year_total w2
WHERE s2.customer_id = s1.customer_id AND s1.customer_id = c2.customer_id AND s1.customer_id = c1.customer_id
  AND s1.customer_id = w1.customer_id AND s1.customer_id = w2.customer_id
  AND s1.sale_type = 's' AND c1.sale_type = 'c' AND w1.sale_type = 'w'
  AND s2.sale_type = 's' AND c2.sale_type = 'c' AND w2.sale_type = 'w'
  AND s1.dyear = 2001 AND s2.dyear = 2002 AND c1.dyear = 2001 AND c2.dyear = 2002 AND w1.dyear = 2001 AND w2.dyear = 2002
  AND s1.year_total > 0 AND c1.year_total > 0 AND w1.year_total > 0
  AND CASE WHEN c1.year_total > 0 THEN c2.year_total / c1.year_total END > CASE WHEN s1.year_total > 0 THEN s2.year_total / s1.year_total END
  AND CASE WHEN c1.year_total > 0 THEN c2.year_total / c1.year_total END > CASE WHEN w1.year_total > 0 THEN w2.year_total / w1.year_total END
ORDER BY s2.customer_id, s2.customer_first_name, s2.customer_last_name, s2.customer_preferred_cust_flag
LIMIT 100;
