// The completion scripts. All of them ask `tarn ---complete`, whose first line is the kind of the
// completions and whose other lines are the completions, each with a description behind a tab.

enum CompletionScript: String, CaseIterable {
    case bash, zsh, fish

    var text: String {
        switch self {
        case .bash: CompletionScript.bashText
        case .zsh: CompletionScript.zshText
        case .fish: CompletionScript.fishText
        }
    }

    private static let bashText = #"""
        # Completions of tarn for bash.
        _tarn() {
            local kind line word=${COMP_WORDS[COMP_CWORD]}
            COMPREPLY=()
            {
                IFS= read -r kind
                while IFS= read -r line; do COMPREPLY+=("${line%%$'\t'*}"); done
            } < <("${COMP_WORDS[0]}" ---complete bash "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
            [[ $word != = ]] || word=
            case $kind in
                files | directories)
                    compopt -o filenames 2>/dev/null
                    local option=-f
                    [[ $kind == files ]] || option=-d
                    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$option" -- "$word")
                    ;;
                open) compopt -o nospace 2>/dev/null ;;
            esac
        }
        complete -F _tarn tarn
        """#

    private static let zshText = #"""
        #compdef tarn
        # Completions of tarn for zsh.
        _tarn() {
            local kind line
            local -a values
            {
                IFS= read -r kind
                while IFS= read -r line; do
                    values+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
                done
            } < <("${words[1]}" ---complete zsh $((CURRENT - 1)) "${words[@]}" 2>/dev/null)
            case $kind in
                files) _files ;;
                directories) _files -/ ;;
                open) _describe -t values completion values -S '' ;;
                *) _describe -t values completion values ;;
            esac
        }
        if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
            _tarn "$@"
        else
            compdef _tarn tarn
        fi
        """#

    private static let fishText = #"""
        # Completions of tarn for fish.
        function __tarn_complete
            set -l words (commandline -opc) (commandline -ct)
            set -l lines (command $words[1] ---complete fish (math (count $words) - 1) $words 2>/dev/null)
            switch "$lines[1]"
                case files
                    __fish_complete_path (commandline -ct)
                case directories
                    __fish_complete_directories (commandline -ct)
                case '*'
                    printf '%s\n' $lines[2..-1]
            end
        end
        complete -c tarn -f -a '(__tarn_complete)'
        """#
}
