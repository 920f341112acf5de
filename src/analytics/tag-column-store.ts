import { type Expression, type SqlBool, sql } from 'kysely';

/** Column of tags, each between line breaks, so that a search finds whole ones. */
export const toTagColumn = (tags: readonly string[]): string =>
  `\n${tags.map(tag => tag.replaceAll('\n', ' ')).join('\n')}\n`;

/** Condition of rows whose column `tags` has the tag. Both engines compare the letter case in `replace`, not in `like`. */
export const hasTagInColumn = (tag: string): Expression<SqlBool> =>
  sql<SqlBool>`replace(tags, ${toTagColumn([tag])}, '') <> tags`;
