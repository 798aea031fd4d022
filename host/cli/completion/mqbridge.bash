# Completion of mqbridge for bash; zsh and fish ask it, too. What it offers is what `mqbridge help COMMAND` prints, so that
# they cannot differ.
#   bash mqbridge.bash PROGRAM WORD... CURRENT      prints a word a line; "@files" stands for names of files

# What may stand where CURRENT is, whatever it begins with.
_mqbridge_words() {
  local program=${1/#\~\//$HOME/} command=() word previous='' help form value
  shift
  while (($# > 1)); do
    word=$1
    [[ $word != -- ]] || { echo @files && return; } # behind it is a command of the user's
    [[ $word == -* || $previous == -* || ${#command[@]} -gt 1 || (${command[0]} && ! ${command[0]} =~ ^(types|recorder)$) ]] || command+=("$word")
    [[ $word == = ]] || previous=$word # readline takes --format=json for three words
    shift
  done
  [[ ${command[0]} != help ]] || { command=() previous='' && printf '%s\n' targets words tree; } # or a command follows
  help=$("$program" help "${command[@]}" 2>/dev/null) || return

  if [[ $previous =~ ^--?[a-z-]+$ ]]; then
    # The form of its value: "--format text|json", "-o FILE".
    form=$(sed -nE "s/^  ${previous} ([^ ]+).*/\1/p" <<<"$help" | head -n 1)
    case $previous in
      --mpirun) "$program" ranks 2>/dev/null | sed -nE 's/.*--mpirun ([0-9]+).*/\1/p' ;;
      --rank) "$program" ranks --format tsv 2>/dev/null | awk -F'\t' '$1 == "rank" && $3 != "" { print $3 }' | sort -nu ;;
      --slurm) squeue --me --noheader --format=%i 2>/dev/null ;;
      --node)
        sinfo --noheader --Node --format=%N 2>/dev/null
        sed -nE 's/^([A-Za-z0-9._-]+)[, ].*/\1/p' ~/.ssh/known_hosts 2>/dev/null
        ;;
    esac
    form=${form//\[*([^\]])\]/}
    for value in ${form//|/ }; do
      case $value in
        FILE | DIR | PATH | CC | FROM=TO) echo @files ;;
        [a-z]*:[A-Z]*) ;; # a form, no value
        [a-z]*) echo "$value" ;;
      esac
    done
    [[ -z $form ]] || return 0
  fi
  # Options, and commands where there is none as yet.
  sed -nE 's/^  (-[^ ,]+).*/\1/p' <<<"$help"
  sed -nE '/^Subcommands:/,/^$/s/^  ([a-z]+) .*/\1/p' <<<"$help"
  grep -q '^Usage: .*\(FILE\|DUMP\)' <<<"$help" && echo @files
  return 0
}

# Nothing of what is offered is ever expanded: names may come from other users and machines.
_mqbridge() {
  local current=${COMP_WORDS[COMP_CWORD]} word files='' last=$((COMP_CWORD - 1))
  [[ $current != = ]] || current=
  [[ $current != : ]] || { current='' && ((last += 1)); } # readline takes core:FILE for three words
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ $word == @files ]]; then
      files=1
    elif [[ $word == "$current"* ]]; then
      COMPREPLY+=("$word")
    fi
  done < <(if ((last > 2)) && [[ ${COMP_WORDS[last]} == : && ${COMP_WORDS[last - 1]} == core ]]; then echo @files
    else _mqbridge_words "${COMP_WORDS[@]:0:COMP_CWORD}" "$current"; fi)
  [[ $files ]] || return 0
  compopt -o filenames
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
}

shopt -s extglob
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  _mqbridge_words "$@"
else
  complete -F _mqbridge mqbridge
fi
