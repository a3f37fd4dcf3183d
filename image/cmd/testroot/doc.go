// Command testroot runs its arguments as root. It is installed setuid root in
// the image for tests, and only there, so that tests can try what a guest whose
// user became root could do. The image build refuses a product image that
// holds it.
package main
