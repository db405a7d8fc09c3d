// The distributions ship fmt only as a shared library. Compiling its implementation once, here,
// puts it into the binary; FMT_HEADER_ONLY would compile it again in every file that formats a
// text.
#include <fmt/format-inl.h>

// What the headers declare "extern template".
template fmt::detail::thousands_sep_result<char>
    fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
#if FMT_VERSION >= 100000
template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&,
                                            fmt::basic_string_view<char>,
                                            fmt::detail::vformat_args<char>::type,
                                            fmt::detail::locale_ref);
#endif
