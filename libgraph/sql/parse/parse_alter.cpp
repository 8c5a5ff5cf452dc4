#include "libgraph/sql/parse/statement_parser.hpp"

namespace headrace::sql {

statement statement_parser::parse_alter() {
  in_.expect(kw::alter_);
  statement out;
  if (in_.is(kw::table_)) {
    out.node = parse_alter_table();
    return out;
  }
  const bool is_temporary = in_.accept(kw::temporary_);
  const bool is_system = is_temporary && in_.accept(kw::system_);
  if (is_temporary || in_.is(kw::function_)) {
    out.node = parse_create_function(true, is_temporary, is_system);
    return out;
  }
  alter node;
  if (in_.accept(kw::view_)) {
    node.kind = object_kind::view;
    node.if_exists = accept_if_exists();
    node.object = parse_qualified_name("a view");
    if (in_.accept(kw::rename_)) {
      in_.expect(kw::to_);
      node.action = rename_object{parse_qualified_name()};
    } else {
      in_.expect(kw::as_);
      node.action = set_query{parse_query()};
    }
  } else if (in_.accept(kw::database_)) {
    node.kind = object_kind::database;
    node.object = parse_qualified_name("a database");
    in_.expect(kw::set_);
    node.action = set_options{parse_options()};
  } else if (in_.accept(kw::catalog_)) {
    node.kind = object_kind::catalog;
    const auto catalog = parse_name("a catalog");
    node.object = {{catalog}, catalog.at};
    if (in_.accept(kw::set_))
      node.action = set_options{parse_options()};
    else if (in_.accept(kw::reset_))
      node.action = reset_options{parse_key_list()};
    else if (in_.expect(kw::comment_))
      node.action = set_comment{parse_text("a comment in quotes")};
  } else {
    in_.fail_expected();
  }
  out.node = std::move(node);
  return out;
}

std::vector<text_value> statement_parser::parse_key_list() {
  std::vector<text_value> out;
  in_.expect('(');
  parse_list([&] { out.push_back(parse_text("an option's key in quotes")); });
  in_.expect(')');
  return out;
}

alter statement_parser::parse_alter_table() {
  in_.expect(kw::table_);
  alter out;
  out.if_exists = accept_if_exists();
  out.object = parse_qualified_name("a table");
  if (in_.accept(kw::rename_)) {
    parse_rename_in_table(out);
  } else if (in_.accept(kw::set_)) {
    out.action = set_options{parse_options()};
  } else if (in_.accept(kw::reset_)) {
    out.action = reset_options{parse_key_list()};
  } else if (in_.accept(kw::modify_)) {
    out.action = parse_change_columns(true);
  } else if (in_.accept(kw::drop_)) {
    parse_drop_from_table(out);
  } else if (in_.expect(kw::add_)) {
    const bool if_not_exists = accept_if_not_exists();
    if (if_not_exists || in_.is(kw::partition_)) {
      add_partitions added;
      added.if_not_exists = if_not_exists;
      do {
        added.partitions.push_back(parse_partition());
        in_.accept(',');
      } while (in_.is(kw::partition_));
      out.action = std::move(added);
    } else {
      out.action = parse_change_columns(false);
    }
  }
  return out;
}

/// One column, key, watermark or distribution, or several in parentheses.
change_columns statement_parser::parse_change_columns(bool is_modify) {
  change_columns out;
  out.is_modify = is_modify;
  const auto parse_one = [&] {
    if (auto key = parse_key_constraint())
      out.keys.push_back(std::move(*key));
    else if (in_.is(kw::watermark_))
      out.watermark = parse_watermark();
    else
      out.columns.push_back(parse_column(false, true));
  };
  if (in_.accept('(')) {
    out.is_list = true;
    parse_list(parse_one);
    in_.expect(')');
  } else if (in_.is(kw::distribution_)) {
    out.distributed_by = parse_distribution(kw::distribution_);
  } else {
    in_.accept(kw::column_);
    parse_one();
  }
  return out;
}

void statement_parser::parse_drop_from_table(alter& out) {
  if (in_.accept(kw::primary_)) {
    in_.expect(kw::key_);
    out.action = drop_definition{droppable::primary_key, std::nullopt};
  } else if (in_.accept(kw::constraint_)) {
    out.action = drop_definition{droppable::constraint, parse_name("a constraint")};
  } else if (in_.accept(kw::watermark_)) {
    out.action = drop_definition{droppable::watermark, std::nullopt};
  } else if (in_.accept(kw::distribution_)) {
    out.action = drop_definition{droppable::distribution, std::nullopt};
  } else if (in_.looks_like(kw::if_) || in_.is(kw::partition_)) {
    drop_partitions dropped;
    dropped.if_exists = accept_if_exists();
    parse_list([&] { dropped.partitions.push_back(parse_partition()); });
    out.action = std::move(dropped);
  } else {
    drop_columns dropped;
    if (in_.accept('(')) {
      dropped.is_list = true;
      parse_list([&] { dropped.columns.push_back(parse_qualified_name("a column")); });
      in_.expect(')');
    } else {
      in_.accept(kw::column_);
      dropped.columns.push_back(parse_qualified_name("a column"));
    }
    out.action = std::move(dropped);
  }
}

void statement_parser::parse_rename_in_table(alter& out) {
  if (in_.accept(kw::to_)) {
    out.action = rename_object{parse_qualified_name()};
    return;
  }
  rename_column renamed;
  renamed.from = parse_qualified_name("a column");
  in_.expect(kw::to_);
  renamed.to = parse_name("a column's name");
  out.action = std::move(renamed);
}

} // namespace headrace::sql
