import { z } from 'zod';
import { ArticleRow, type PostLabels, type StoredArticle, toArticleRow } from '../posts/schema.ts';

/** Doc: a tutorial of a product, with the members of a post and a position among the others. */
export interface StoredDoc extends StoredArticle {
  ProductID: number;
  Position: number;
}

export const Doc = ArticleRow.extend({ MarkdownContent: z.string(), PreviewContent: z.string() });

export function toDocView(doc: StoredDoc, labels: PostLabels): z.input<typeof Doc> {
  const { ProductID: _product, Position: _position, ...post } = doc;
  const { MarkdownContent, PreviewContent } = post;
  return { ...toArticleRow(post, labels), Type: 'doc', MarkdownContent, PreviewContent };
}
