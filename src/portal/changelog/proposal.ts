import type { DocumentReference } from '../files/api-reference.ts';
import { compareDocuments, type DocumentDifference } from './document-differences.ts';
import type { StoredProposal } from './proposal-schema.ts';
import { toCode } from './schema-differences.ts';

/** Lines of a proposed text. */
const maxLines = 100;
const maxHeadlineChars = 200;
const maxVersionChars = 50;
const maxTextChars = 20_000;

type Proposal = Pick<StoredProposal, 'Version' | 'Kind' | 'Headline' | 'Text' | 'IsBreaking' | 'Changes'>;

/** Proposed entry for a new version of a document; undefined where a client notices nothing. */
export function buildProposal(before: DocumentReference, after: DocumentReference): Proposal | undefined {
  const changes = compareDocuments(before, after);
  if (changes.length === 0) return undefined;
  const breaking = changes.filter(({ IsBreaking }) => IsBreaking);
  const others = changes.filter(({ IsBreaking }) => !IsBreaking);
  return {
    Version: toLine(after.version).slice(0, maxVersionChars),
    Kind: selectKind(changes),
    Headline: describeChanges(changes).slice(0, maxHeadlineChars),
    Text: [...renderList('Breaking changes', breaking), ...renderList('Other changes', others)]
      .join('\n')
      .slice(0, maxTextChars),
    IsBreaking: breaking.length > 0,
    Changes: changes,
  };
}

const toLine = (text: string) => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** The kind that all changes have; several are a change. */
function selectKind(changes: readonly DocumentDifference[]): DocumentDifference['Kind'] {
  const kinds = new Set(changes.map(({ Kind }) => Kind));
  return kinds.size === 1 ? changes[0]!.Kind : 'changed';
}

/** `2 operations added, 1 operation changed`. */
function describeChanges(changes: readonly DocumentDifference[]): string {
  const parts = (['added', 'changed', 'deprecated', 'removed'] as const).flatMap(kind => {
    const count = new Set(changes.filter(({ Kind }) => Kind === kind).map(({ Operation }) => Operation)).size;
    return count === 0 ? [] : [`${count} ${count === 1 ? 'operation' : 'operations'} ${kind}`];
  });
  return parts.join(', ');
}

const renderList = (title: string, changes: readonly DocumentDifference[]): string[] =>
  changes.length === 0
    ? []
    : [
        `**${title}**`,
        '',
        ...changes.slice(0, maxLines).map(({ Operation, Kind, Text }) => `- ${toCode(Operation)}: ${Text || Kind}`),
        ...(changes.length > maxLines ? [`- ${changes.length - maxLines} more`] : []),
        '',
      ];
