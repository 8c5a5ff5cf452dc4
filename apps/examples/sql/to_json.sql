-- Two tables filled by one job, and one of them read again.
CREATE TABLE orders (id BIGINT, customer STRING, item STRING, amount INT, price DECIMAL(6, 2), rt TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'apps/examples/sql/data/orders.csv',
      'format' = 'csv', 'csv.null-literal' = '');

CREATE TABLE teas (id BIGINT, customer STRING, total DECIMAL(17, 2))
WITH ('connector' = 'filesystem', 'path' = '/tmp/headrace-example-teas', 'format' = 'json');
CREATE TABLE others LIKE teas (OVERWRITING OPTIONS);
ALTER TABLE others SET ('path' = '/tmp/headrace-example-others', 'format' = 'csv');

EXECUTE STATEMENT SET BEGIN
  INSERT INTO teas SELECT id, customer, amount * price FROM orders WHERE item = 'tea';
  INSERT INTO others SELECT id, customer, amount * price FROM orders WHERE item <> 'tea';
END;

SELECT * FROM teas ORDER BY id;
