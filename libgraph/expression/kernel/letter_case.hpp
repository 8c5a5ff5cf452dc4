#pragma once

namespace headrace::graph {

/// The capital and the small letter of a code point; itself when it has none. Latin, Greek,
/// Cyrillic, Armenian and full-width letters; one code point for one (ß stays).
char32_t to_capital(char32_t point);
char32_t to_small(char32_t point);

} // namespace headrace::graph
