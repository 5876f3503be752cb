WITH wscs AS (
  SELECT ws_sold_date_sk AS sold_date_sk, ws_ext_sales_price AS sales_price FROM web_sales
  UNION ALL
  SELECT cs_sold_date_sk, cs_ext_sales_price FROM catalog_sales
), wswscs AS (
  SELECT d_week_seq,
         sum(CASE WHEN d_day_name = 'Sunday' THEN sales_price END) AS sun_sales,
         sum(CASE WHEN d_day_name = 'Monday' THEN sales_price END) AS mon_sales,
         sum(CASE WHEN d_day_name = 'Tuesday' THEN sales_price END) AS tue_sales,
         sum(CASE WHEN d_day_name = 'Wednesday' THEN sales_price END) AS wed_sales,
         sum(CASE WHEN d_day_name = 'Thursday' THEN sales_price END) AS thu_sales,
         sum(CASE WHEN d_day_name = 'Friday' THEN sales_price END) AS fri_sales,
         sum(CASE WHEN d_day_name = 'Saturday' THEN sales_price END) AS sat_sales
  FROM wscs, date_dim
  WHERE d_date_sk = sold_date_sk
  GROUP BY d_week_seq
)
SELECT y.d_week_seq, round(y.sun_sales / z.sun_sales, 2) AS r1, round(y.mon_sales / z.mon_sales, 2) AS r2,
       round(y.tue_sales / z.tue_sales, 2) AS r3, round(y.wed_sales / z.wed_sales, 2) AS r4,
       round(y.thu_sales / z.thu_sales, 2) AS r5, round(y.fri_sales / z.fri_sales, 2) AS r6,
       round(y.sat_sales / z.sat_sales, 2) AS r7
FROM (SELECT wswscs.* FROM wswscs, date_dim WHERE date_dim.d_week_seq = wswscs.d_week_seq AND d_year = 2001) y,
     (SELECT wswscs.* FROM wswscs, date_dim WHERE date_dim.d_week_seq = wswscs.d_week_seq AND d_year = 2002) z
WHERE y.d_week_seq = z.d_week_seq - 53
ORDER BY y.d_week_seq;
