package dependents

import "github.com/windlass-go/windlass/chain"

// applyLinks returns the links around the update of one object. The end is
// [noUpdate].
func applyLinks(o options) Chain {
	return chain.New(
		chain.Recover,
		chain.Named("Read", read),
		chain.Named("Ready", awaitReady),
		chain.Named("Terminating", terminating),
		chain.Named("Adopt", adopt(o.clock)),
		chain.Named("InSync", inSync(o.clock)),
		chain.Named(linkDryRun, dryRun),
		chain.Named("Create", create),
		chain.Named("Recreate", recreate),
		chain.Named("Replace", update(UpdateReplace, isNoController)),
		chain.Named("SsaOverride", update(UpdateSsaOverride, hasPrefix(o.prefixes))),
		chain.Named("SsaMerge", update(UpdateSsaMerge, none)),
	)
}

// deleteLinks returns the links around the deletion of one object. The end is
// [remove].
func deleteLinks(o options) Chain {
	return chain.New(
		chain.Recover,
		chain.Named("ReadLive", readLive),
		chain.Named("Owned", owned),
		chain.Named("Orphan", orphan(o.dropMarks)),
		chain.Named("Terminating", terminating),
		chain.Named(linkDryRun, dryRun),
	)
}
