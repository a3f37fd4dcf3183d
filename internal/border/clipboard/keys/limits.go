package keys

// maxSequence is how many bytes of a sequence's parameters are looked at. A
// longer sequence is no key.
const maxSequence = 64
