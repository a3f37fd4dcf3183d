# What bash reads when it is interactive. It starts no program, so that a shell
# is there at once; without dircolors, ls has colours of its own.
case $- in
*i*) ;;
*) return ;;
esac

HISTCONTROL=ignoreboth
HISTSIZE=1000
HISTFILESIZE=2000
shopt -s histappend checkwinsize

case $TERM in
*color*) PS1='\[\e[01;32m\]\u@\h\[\e[00m\]:\[\e[01;34m\]\w\[\e[00m\]\$ ' ;;
*) PS1='\u@\h:\w\$ ' ;;
esac
case $TERM in
xterm* | rxvt*) PS1="\[\e]0;\u@\h: \w\a\]$PS1" ;;
esac

if [ -r ~/.dircolors ]; then
  eval "$(dircolors -b ~/.dircolors)"
fi
alias ls='ls --color=auto'

if [ -r ~/.bash_aliases ]; then
  . ~/.bash_aliases
fi
if [ -r /usr/share/bash-completion/bash_completion ]; then
  . /usr/share/bash-completion/bash_completion
fi
