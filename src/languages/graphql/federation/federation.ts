/** Federation, behind one entry: `loadFederation` loads it with its package on first use. */

export { composeSupergraph } from './compose-supergraph.ts';
export { countPlannedSelections } from './planned-selections.ts';
export { findForeignPart } from './schema-part.ts';
