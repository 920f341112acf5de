import type { FastifyReply, FastifyRequest } from 'fastify';
import { escapeMarkup } from '#base/escape-markup.ts';
import { landingHeaders, renderLandingLayout } from './layout.ts';

/** A path is shown up to this length. */
const maxShownPathChars = 200;

/** Content negotiation (RFC 9110, 12.5.1): a browser names HTML, an API client JSON or anything. */
export const acceptsHtml = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  /(?:^|,)\s*text\/html\s*(?:$|[,;])/i.test(headers.accept ?? '');

/** 404 page for browsers. */
export function sendNotFoundPage(reply: FastifyReply, path: string): FastifyReply {
  const shown = path.length > maxShownPathChars ? `${path.slice(0, maxShownPathChars)}…` : path;
  const main =
    `<p>There is no page at <code>${escapeMarkup(shown)}</code> on this listener.</p>` +
    '<p><a href="/">Start page</a> · <a href="/docs">Reference of all operations</a></p>';
  return reply
    .code(404)
    .headers(landingHeaders)
    .send(renderLandingLayout({ title: 'Page not found', main }));
}
