// Package browser tests the page of flow/why in Chromium. It is a module of its
// own so that users of the library do not download a driver for browsers.
//
// make browser runs the tests. It installs Chromium and the accessibility rules
// of axe-core, if they are missing and it can.
package browser
