package session

// signals are the names of RFC 4254 and their numbers on Linux.
func signals() map[string]int {
	return map[string]int{
		"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "ABRT": 6, "FPE": 8, "KILL": 9, "USR1": 10,
		"SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15,
	}
}

// signalName is the name for a number. Those the RFC has no name for get the
// form that it leaves to implementations.
func signalName(number int) string {
	for name, n := range signals() {
		if n == number {
			return name
		}
	}
	if name, ok := map[int]string{5: "TRAP", 7: "BUS", 24: "XCPU", 25: "XFSZ", 31: "SYS"}[number]; ok {
		return name + "@aibox"
	}
	return "UNKNOWN@aibox"
}
