// The distributions ship fmt only as a shared library. Compiling its implementation once, here,
// puts it into the binary; FMT_HEADER_ONLY would compile it again in every file that formats a
// text.
#include <fmt/format-inl.h>

// format.h promises these elsewhere ("extern template").
template fmt::detail::thousands_sep_result<char>
    fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
