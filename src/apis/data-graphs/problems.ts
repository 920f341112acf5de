import { problems } from '#base/problems.ts';

export const problem = problems('data_graphs', {
  document_invalid: { status: 400, message: 'The document has an error at {place}: {reason}' },
  document_unsupported: { status: 400, message: 'The document cannot be imported: it {reason}' },
});

/** Rejects a part of a document, by its JSON pointer. */
export const createDocumentProblem = (place: string, reason: string) =>
  problem.document_invalid({ detail: { place: `#${place}`, reason } });
