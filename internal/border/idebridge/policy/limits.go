package policy

// Limits of texts in bytes.
const (
	maxTab  = 300 // a tab's title
	maxName = 100 // how a side of the protocol names itself
	maxWhat = 200 // a line of the log
)
