import { describeAgent } from '#base/agent-name.ts';
import type { StoredSession } from '#people/sessions/store.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { auditForm } from '../audit.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import { profilePath, type SitePage, type SiteReply, type SiteRequest, type SiteServices } from '../page.ts';
import { renderScrollRegion } from '../scroll-region.ts';
import { formatMoment } from '../words.ts';

const endSessionPath = `${profilePath}/sessions/end`;
const endOthersPath = `${profilePath}/sessions/end-others`;

/** Valid sessions of the visitor, newest first. */
export const listOwnSessions = ({ visitor }: SiteRequest, { portal, clock }: SiteServices): Promise<StoredSession[]> =>
  portal.sessions.list(toSessionOwner(visitor.user!.ID), clock.now());

/** Section of the profile: browsers that are signed in. */
export async function renderOwnSessions(request: SiteRequest, services: SiteServices): Promise<Markup> {
  const { sessionId, csrfToken } = request.visitor;
  const sessions = await listOwnSessions(request, services);
  const csrf = renderCsrfField(csrfToken);
  const renderRow = ({ id, createdAtMs, seenAtMs, address, userAgent }: StoredSession) =>
    html`<tr><td title="${userAgent}">${describeAgent(userAgent) || 'Unknown browser'}</td><td>${address}</td>
<td>${formatMoment(createdAtMs)}</td><td>${formatMoment(seenAtMs)}</td><td>${
      id === sessionId
        ? 'This session'
        : html`<form method="post" action="${endSessionPath}">${csrf}<input type="hidden" name="session" value="${id}">
<button class="quiet" aria-label="End session of ${formatMoment(createdAtMs)}">End</button></form>`
    }</td></tr>`;
  const table = html`<table><thead><tr><th scope="col">Browser</th><th scope="col">Address</th>
<th scope="col">Signed in</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead>
<tbody>${sessions.map(renderRow)}</tbody></table>`;
  return html`<section class="form broad"><h2>Sessions</h2>${renderScrollRegion('Sessions', table)}
${
  sessions.length > 1
    ? html`<form method="post" action="${endOthersPath}">${csrf}<button class="secondary">End all other sessions</button></form>`
    : ''
}</section>`;
}

/** Ends one session of the visitor; the id of a session of another user is a 404. */
async function endSession(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { visitor, form } = request;
  const isEnded = await services.portal.sessions.remove(toSessionOwner(visitor.user!.ID), form('session'));
  if (!isEnded) return undefined;
  await auditForm('endOwnSession', request, visitor.user, 303, services);
  return { redirect: profilePath };
}

async function endOthers(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { visitor } = request;
  await services.portal.sessions.removeOthers(toSessionOwner(visitor.user!.ID), visitor.sessionId);
  await auditForm('endOwnSessions', request, visitor.user, 303, services);
  return { redirect: profilePath };
}

export const ownSessionPages: readonly SitePage[] = [
  { method: 'POST', path: endSessionPath, access: 'user', respond: endSession },
  { method: 'POST', path: endOthersPath, access: 'user', respond: endOthers },
];
