package helm

import (
	"fmt"
	"maps"
	"slices"
	"text/template"
)

// functions replaces the functions whose results may differ from call to call.
var functions = func() template.FuncMap {
	all := template.FuncMap{
		"keys": func(dicts ...map[string]any) []string {
			keys := []string{}
			for _, dict := range dicts {
				keys = append(keys, slices.Sorted(maps.Keys(dict))...)
			}
			return keys
		},
		"values": func(dict map[string]any) []any {
			values := []any{}
			for _, key := range slices.Sorted(maps.Keys(dict)) {
				values = append(values, dict[key])
			}
			return values
		},
	}
	for _, name := range []string{
		"now", "ago", "date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone", "durationRound", "toDate", "mustToDate",
		"lookup", "getHostByName", "shuffle", "uuidv4", "bcrypt", "htpasswd", "encryptAES", "genPrivateKey",
		"randAlpha", "randAlphaNum", "randAscii", "randBytes", "randInt", "randNumeric", "genCA", "genCAWithKey",
		"genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
	} {
		all[name] = func(...any) (any, error) {
			return nil, fmt.Errorf("%s may have another result in each pass: give the value by the parameters", name)
		}
	}
	return all
}()
