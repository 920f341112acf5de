import { Problem } from '#base/problems.ts';
import type { FileContent } from '#operations/body.ts';
import { listSearchWords } from '#storage/search-words.ts';
import type { StoredDoc } from '../docs/schema.ts';
import type { ReferenceOperation } from '../files/api-reference.ts';
import { parseProductDocument } from '../files/parsed-document.ts';
import type { IndexedEntry } from './schema.ts';

/** Operations of one document that searches find. */
const maxIndexedOperations = 2000;
/** Words of one operation. */
const maxOperationWords = 60;
const maxSummaryChars = 300;

/** Words of names: `orderId` and `order_id` are found by `order`, by `id` and as they are. */
const splitNames = (text: string) => `${text} ${text.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ')}`;

/** The path and the summary first: the words of an operation are bounded. */
const joinOperationTexts = ({ method, path, id, summary, tag, parameters, description }: ReferenceOperation) =>
  [
    method,
    splitNames(path.replaceAll(/[/{}.-]+/g, ' ')),
    summary,
    id,
    tag,
    ...parameters.map(({ name }) => splitNames(name)),
    description.slice(0, 1000),
  ].join('\n');

/** Operations of an OpenAPI document; none of another one, or of one that cannot be read. */
export function listDocumentEntries(content: Pick<FileContent, 'bytes'>): IndexedEntry[] {
  return readOperations(content)
    .slice(0, maxIndexedOperations)
    .map(operation => ({
      kind: 'operation',
      place: operation.id,
      title: `${operation.method} ${operation.path}`,
      summary: operation.summary,
      words: listSearchWords(joinOperationTexts(operation)).slice(0, maxOperationWords),
    }));
}

function readOperations(content: Pick<FileContent, 'bytes'>): readonly ReferenceOperation[] {
  try {
    return parseProductDocument(content)?.operations ?? [];
  } catch (error) {
    if (error instanceof Problem) return [];
    throw error;
  }
}

/** A published guide; none of a draft. */
export function listGuideEntries(doc: StoredDoc): IndexedEntry[] {
  if (doc.Status !== 'published') return [];
  const { Title, Lede, Path, MarkdownEnabled, MarkdownContent, Content } = doc;
  const text = [Title, Lede, MarkdownEnabled ? MarkdownContent : Content].join('\n');
  const summary = Lede.slice(0, maxSummaryChars);
  return [{ kind: 'guide', place: Path, title: Title, summary, words: listSearchWords(text) }];
}
