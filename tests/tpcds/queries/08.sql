SELECT s_store_name, sum(ss_net_profit)
FROM store_sales, date_dim, store,
     (SELECT ca_zip
      FROM (SELECT substring(ca_zip, 1, 5) AS ca_zip FROM customer_address
            WHERE substring(ca_zip, 1, 2) IN ('24', '28', '31', '35', '37', '38', '40', '45', '48', '52', '57', '60', '66', '68', '70', '73', '77', '80', '84', '88', '90')
            INTERSECT
            SELECT ca_zip FROM (SELECT substring(ca_zip, 1, 5) AS ca_zip, count(*) AS cnt FROM customer_address, customer
                                WHERE ca_address_sk = c_current_addr_sk AND c_preferred_cust_flag = 'Y'
                                GROUP BY ca_zip HAVING count(*) > 10) a1) a2) v1
WHERE ss_store_sk = s_store_sk AND ss_sold_date_sk = d_date_sk AND d_qoy = 2 AND d_year = 1998
  AND substring(s_zip, 1, 2) = substring(v1.ca_zip, 1, 2)
GROUP BY s_store_name
ORDER BY s_store_name
LIMIT 100;
