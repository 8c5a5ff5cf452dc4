-- What a connector takes.
DESCRIBE CONNECTOR print;
