import { z } from 'zod';
import { type PostLabels, PostRow, type StoredPost, toPostRow } from '../posts/schema.ts';

/** Doc: a tutorial of a product, with the members of a post and a position among the others. */
export interface StoredDoc extends StoredPost {
  ProductID: number;
  Position: number;
}

export const Doc = PostRow.extend({ MarkdownContent: z.string(), PreviewContent: z.string() });

export function toDocView(doc: StoredDoc, labels: PostLabels): z.input<typeof Doc> {
  const { ProductID: _product, Position: _position, ...post } = doc;
  const { MarkdownContent, PreviewContent } = post;
  return { ...toPostRow(post, labels), Type: 'doc', MarkdownContent, PreviewContent };
}
