# `cmake --install`: one folder that runs wherever it is put.
include(GNUInstallDirs)
set_target_properties(gpuvet PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/gpuvet")

# A shared library that has no static archive travels along; tests/release_binary.py has the list of
# those that may.
install(TARGETS gpuvet
        RUNTIME_DEPENDENCIES PRE_EXCLUDE_REGEXES "^lib(c|m)\\.so" "^ld-linux"
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION lib/gpuvet)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

# Completion scripts are what the installed binary prints, so they fit it.
set(scripts
    "bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/gpuvet"
    "zsh ${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_gpuvet"
    "fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/gpuvet.fish")
foreach(script IN LISTS scripts)
  separate_arguments(words UNIX_COMMAND ${script})
  list(GET words 0 shell)
  list(GET words 1 path)
  install(CODE "
    set(script \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${path}\")
    get_filename_component(folder \"\${script}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND $<TARGET_FILE:gpuvet> completion ${shell}
                    OUTPUT_FILE \"\${script}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${script}\")")
endforeach()
