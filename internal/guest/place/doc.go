// Package place finds the places of mounts in a home where earlier sessions may
// have left anything: files, links that lead out, links that lead nowhere.
package place
