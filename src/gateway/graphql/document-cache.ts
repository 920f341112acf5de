import type { Settings } from '#base/settings.ts';
import type { CheckedDocument } from '#languages/graphql/document.ts';

interface Entry {
  readonly document: CheckedDocument;
  /** Introspection result of a document without variables, once requested. */
  readonly metaResult: string | undefined;
  readonly bytes: number;
}

/** Validated documents of a thread by schema and text: least recently used ones are evicted beyond the byte bound. */
export class DocumentCache {
  readonly #entries = new Map<string, Entry>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  set(key: string, document: CheckedDocument, metaResult?: string): void {
    const bytes = document.bytes + 2 * key.length + 2 * (metaResult?.length ?? 0);
    if (bytes > this.#maxBytes) return;
    this.#bytes += bytes - (this.#entries.get(key)?.bytes ?? 0);
    this.#entries.delete(key);
    this.#entries.set(key, { document, metaResult, bytes });
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= entry.bytes;
    }
  }
}

const caches = new WeakMap<Settings, DocumentCache>();

/** The cache of the thread: APIs share its memory. */
export function findDocumentCache(settings: Settings): DocumentCache {
  const cache = caches.get(settings) ?? new DocumentCache(settings['graphql.max_cached_document_bytes']);
  caches.set(settings, cache);
  return cache;
}
