package fetch

// maxRequest bounds one request in bytes. A client that knows a hundred
// thousand commits the server does not names them in about 5 MB.
const maxRequest = 64 << 20
