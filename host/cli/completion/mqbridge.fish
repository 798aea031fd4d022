# Completion of mqbridge for fish: what that for bash says.
set -g __mqbridge_bash (status dirname)/../../bash-completion/completions/mqbridge
function __mqbridge_complete
    set -l words (bash $__mqbridge_bash (commandline -opc) (commandline -ct) 2>/dev/null)
    string match -v @files -- $words
    contains @files $words; and __fish_complete_path (commandline -ct)
end
complete -c mqbridge -f -a '(__mqbridge_complete)'
