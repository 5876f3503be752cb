SELECT CAST(amc AS DECIMAL(15,4)) / CAST(pmc AS DECIMAL(15,4)) AS am_pm_ratio
FROM (SELECT count(*) AS amc FROM web_sales, household_demographics, time_dim, web_page
      WHERE ws_sold_time_sk = t_time_sk AND ws_ship_hdemo_sk = hd_demo_sk AND ws_web_page_sk = wp_web_page_sk AND t_hour BETWEEN 8 AND 9
        AND hd_dep_count = 6 AND wp_char_count BETWEEN 2000 AND 5200) am,
     (SELECT count(*) AS pmc FROM web_sales, household_demographics, time_dim, web_page
      WHERE ws_sold_time_sk = t_time_sk AND ws_ship_hdemo_sk = hd_demo_sk AND ws_web_page_sk = wp_web_page_sk AND t_hour BETWEEN 19 AND 20
        AND hd_dep_count = 6 AND wp_char_count BETWEEN 2000 AND 5200) pm
WHERE pmc > 0
ORDER BY am_pm_ratio
LIMIT 100;
