// Package howto holds the code that the pages in docs/howto show. Each page has
// a file of examples here, or a folder with a whole file.
package howto
