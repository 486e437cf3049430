package flow_test

import (
	"testing"

	"github.com/windlass-go/windlass/flow"
)

// each makes extensions with a link of this name at each point.
func each(name string) ext {
	return (&cloud{}).each(func(string) string { return name })
}

// alone makes, for each point, extensions with one link at that point only.
func alone(name string) map[string]ext {
	e := each(name)
	return map[string]ext{
		"Pass": {Pass: e.Pass}, "EntryCheck": {EntryCheck: e.EntryCheck}, "OwnerCheck": {OwnerCheck: e.OwnerCheck}, "Get": {Get: e.Get},
		"GetCheck": {GetCheck: e.GetCheck}, "PreCheck": {PreCheck: e.PreCheck}, "Apply": {Apply: e.Apply}, "PostCheck": {PostCheck: e.PostCheck},
		"DeleteCheck": {DeleteCheck: e.DeleteCheck}, "Delete": {Delete: e.Delete}, "Classify": {Classify: e.Classify},
	}
}

func printed(e ext) map[string]string {
	return map[string]string{
		"Pass": e.Pass.String(), "EntryCheck": e.EntryCheck.String(), "OwnerCheck": e.OwnerCheck.String(), "GetCheck": e.GetCheck.String(), "Get": e.Get.String(), "PreCheck": e.PreCheck.String(), "Apply": e.Apply.String(),
		"PostCheck": e.PostCheck.String(), "DeleteCheck": e.DeleteCheck.String(), "Delete": e.Delete.String(), "Classify": e.Classify.String(),
	}
}

func all(text string) map[string]string {
	m := map[string]string{}
	for point := range printed(ext{}) {
		m[point] = text
	}
	return m
}

func TestExtend(t *testing.T) {
	base := each("Base")
	a, b := base.Extend(each("A")), base.Extend(each("B"), each("C"))
	mustEqual(t, "the links of a kind are inside the links of the base", all("noteBase -> noteA"), printed(a))
	mustEqual(t, "one kind changes neither another kind nor the base", all("noteBase -> noteB -> noteC"), printed(b))
	mustEqual(t, "the base stays as it was", all("noteBase"), printed(base))
	mustEqual(t, "empty extensions add no link", all("noteBase"), printed(ext{}.Extend(base, ext{})))
	mustEqual(t, "Extend without others adds no link", all("noteBase"), printed(base.Extend()))
}

// Each link of a Reconciler's extensions has its point.
func TestExtensionsOfReconciler(t *testing.T) {
	c := &cloud{}
	r := flow.New("Pool", c.operations(), each("X"))
	mustEqual(t, "Name returns the name given to New", "Pool", r.Name())
	e := r.Extensions()
	got := map[string]string{
		e.Pass.Links()[0].Point: "Pass", e.EntryCheck.Links()[0].Point: "EntryCheck", e.OwnerCheck.Links()[0].Point: "OwnerCheck", e.GetCheck.Links()[0].Point: "GetCheck", e.Get.Links()[0].Point: "Get", e.PreCheck.Links()[0].Point: "PreCheck",
		e.Apply.Links()[0].Point: "Apply", e.PostCheck.Links()[0].Point: "PostCheck", e.DeleteCheck.Links()[0].Point: "DeleteCheck",
		e.Delete.Links()[0].Point: "Delete", e.Classify.Links()[0].Point: "Classify",
	}
	want := map[string]string{}
	for point := range printed(ext{}) {
		want[point] = point
	}
	mustEqual(t, "each link has its point", want, got)
}
