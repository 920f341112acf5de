import { createTextResult, type McpToolResult, parseStructuredContent } from '#base/mcp-server/protocol.ts';

/** Longer responses are cut: they would fill the context of an agent. */
export const maxResultCharacters = 100_000;

export interface OperationResponse {
  readonly status: number;
  readonly text: string;
  readonly etag?: string | undefined;
}

/** Result of a tool from the HTTP response of its operation. */
export function toToolResult({ status, text, etag }: OperationResponse): McpToolResult {
  if (status >= 400) return createTextResult(`HTTP ${status}: ${cutText(text)}`, true);
  const tag = etag === undefined ? [] : [{ type: 'text' as const, text: `ETag: ${etag}` }];
  if (text.length > maxResultCharacters) return { content: [{ type: 'text', text: cutText(text) }, ...tag] };
  const value = parseStructuredContent(text);
  return { content: [{ type: 'text', text }, ...tag], ...(value && { structuredContent: value }) };
}

const advice = 'request less with the arguments for pages and filters';

const cutText = (text: string): string =>
  text.length <= maxResultCharacters
    ? text
    : `${text.slice(0, maxResultCharacters)}\n[cut: ${maxResultCharacters} of ${text.length} characters; ${advice}]`;
