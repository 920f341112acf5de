/** Entry of the search index: an operation of a document, or a guide. */
export interface IndexedEntry {
  readonly kind: EntryKind;
  /** Segment of its address below its source. */
  readonly place: string;
  readonly title: string;
  readonly summary: string;
  readonly words: readonly string[];
}

export type EntryKind = 'operation' | 'guide';

/** Source of entries: a document, by the owner of its file, or a guide. */
export interface SearchSource {
  readonly owner: string;
  readonly productId: number;
}

export const toGuideOwner = (docId: number): string => `docs/${docId}`;

/** Product of the owner of a document; undefined for the owner of another file. */
export function readDocumentProduct(owner: string): number | undefined {
  const [, id] = /^products\/(\d+)\/(?:apis|specs)\//.exec(owner) ?? [];
  return id === undefined ? undefined : Number(id);
}
