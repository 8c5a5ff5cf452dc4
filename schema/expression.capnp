@0xd2c7a94be10f5836;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

# An expression over the columns of a row. Types are logical_type's own encoding.

struct ExpressionCall {
  function @0 :Text;
  arguments @1 :List(UInt32);   # places of nodes before this one
}
struct ExpressionNode {
  type @0 :Data;
  union {
    column @1 :UInt32;
    constant @2 :Data;          # a batch of one row and one column
    call @3 :ExpressionCall;
  }
}
# Nodes stand behind those that they use; the last one is the whole.
struct Expression {
  nodes @0 :List(ExpressionNode);
}
