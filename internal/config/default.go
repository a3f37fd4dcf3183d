package config

// DefaultText returns what the first run writes: the hosts that Claude Code
// needs, and every other key as a comment.
func DefaultText() []byte { return []byte(defaultText) }

const defaultText = `# What the VM of this project gets. "aibox config show" prints what holds now,
# and a mistake in this file stops "aibox run" with its line and column.

# Hosts the VM may reach. Forms:
#   example.com              port 443 of this one host
#   example.com:8443         another port
#   "*.example.com"          every host below example.com, not itself (keep the quotes)
#   preset:go                hosts that belong together; there are go, npm, pypi, cargo,
#                            github, docker, debian, maven, rubygems, gitlab, nuget, packagist
#   127.0.0.1:8080           a port of this machine, also as [::1]:8080
#   192.168.1.20:443         an address of this machine's networks, with its port
allow:
  - api.anthropic.com        # the Claude API
  - claude.ai                # login
  - claude.com               # login
  - platform.claude.com      # tokens
  - mcp-proxy.anthropic.com  # MCP connectors
  - code.claude.com          # documentation of Claude Code

# The VM's size. The flags --memory and --cpus override these.
#memory: 2048   # MiB
#cpus: 2
#disk: 16       # GiB, when the disk for /usr/local and ~/.cache is created

# Folders of this machine that the VM sees read-only, as host:guest.
#mounts:
#  - ~/docs:/docs

# Folders in front of the VM's PATH. The name of a variable stands for the
# folders in that variable of this machine.
#path:
#  - /project/bin
#  - DIRENV_PATH

# Variables for the command in the VM. A bare name passes this machine's value.
# ANTHROPIC_API_KEY never enters the VM: aibox adds it outside to each request.
#env:
#  - ANTHROPIC_API_KEY
#  - EDITOR=vi

# Repositories that git in the VM may use with this machine's login.
#git:
#  - remote: github.com/me/app
#    fetch: true
#    push: ["claude/*"]   # branches; * is any run without "/"

#ide: false         # true connects Claude Code with your IDE
#clipboard: true    # false: Ctrl+V never hands an image to the VM

# Parts of your ~/.claude that the VM gets; false keeps one out.
#agents: true
#commands: true
#skills: true
#claude-md: true
#settings: true
`
