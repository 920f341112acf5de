import {
  isRequiredKind,
  type NotificationChoices,
  type NotificationKind,
  notificationKinds,
} from '../../notifications/kinds.ts';
import type { StoredNotification } from '../../notifications/store.ts';
import { readObjectId } from '../apps/own-apps.ts';
import { auditForm } from '../audit.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import {
  notificationsPath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';
import { formatMoment } from '../words.ts';

const readPath = `${notificationsPath}/read`;
const choicesPath = `${notificationsPath}/choices`;

const kindNames: Readonly<Record<NotificationKind, string>> = {
  requests: 'Access requests and plans',
  credentials: 'Credentials',
  products: 'Changes of products',
  team: 'Team and organisation',
  security: 'Security of the account',
};

async function respond(request: SiteRequest, services: SiteServices): Promise<SiteDocument> {
  const { visitor, query } = request;
  const { notifications } = services.portal;
  const items = await notifications.ofUser(visitor.user!.ID);
  const hasUnread = items.some(it => !it.IsRead);
  return {
    title: 'Notifications',
    section: 'profile',
    main: html`<div class="head"><h1>Notifications</h1>${
      hasUnread
        ? html`<form method="post" action="${readPath}">${renderCsrfField(visitor.csrfToken)}
<input type="hidden" name="last" value="${items[0]!.ID}"><button class="quiet">Mark all as read</button></form>`
        : ''
    }</div>
${query('done') === 'saved' ? html`<p class="message" role="status">The choices were saved.</p>` : ''}
${items.length === 0 ? html`<p class="dim">There are no notifications.</p>` : renderItems(items)}
${renderChoices(await notifications.readChoices(visitor.user!.ID), request, services)}`,
  };
}

const renderItems = (items: readonly StoredNotification[]): Markup =>
  html`<ul class="rows">${items.map(
    ({ Title, Path, IsRead, CreatedAt, Kind }) => html`<li><div>${
      Path ? html`<a href="${Path}">${Title}</a>` : Title
    }${IsRead ? '' : html` <span class="badge warning">New</span>`}<p class="dim">${kindNames[Kind]},
${formatMoment(CreatedAt)}</p></div></li>`,
  )}</ul>`;

const toField = (kind: NotificationKind, way: 'site' | 'mail') => `${way}_${kind}`;

function renderChoices(choices: NotificationChoices, { visitor }: SiteRequest, { mailer }: SiteServices): Markup {
  const renderTick = (kind: NotificationKind, way: 'site' | 'mail') =>
    html`<td><input type="checkbox" name="${toField(kind, way)}" value="on" aria-label="${kindNames[kind]}: ${
      way === 'site' ? 'on the site' : 'by mail'
    }"${choices[kind][way] ? html` checked` : ''}${isRequiredKind(kind) ? html` disabled` : ''}></td>`;
  return html`<form method="post" action="${choicesPath}"><h2>Choices</h2>${renderCsrfField(visitor.csrfToken)}
${mailer.isConfigured ? '' : html`<p class="dim">This portal has no mail server: no mails are sent.</p>`}
<table><thead><tr><th scope="col">About</th><th scope="col">On the site</th><th scope="col">By mail</th></tr></thead>
<tbody>${notificationKinds.map(
    kind =>
      html`<tr><th scope="row">${kindNames[kind]}${
        isRequiredKind(kind) ? html` <span class="dim">(always)</span>` : ''
      }</th>${renderTick(kind, 'site')}${renderTick(kind, 'mail')}</tr>`,
  )}</tbody></table><button>Save choices</button></form>`;
}

async function submitRead({ visitor, form }: SiteRequest, { portal }: SiteServices): Promise<SiteReply> {
  await portal.notifications.markRead(visitor.user!.ID, readObjectId(form('last')));
  return { redirect: notificationsPath };
}

async function submitChoices(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { visitor, form } = request;
  const choices = Object.fromEntries(
    notificationKinds.map(kind => [
      kind,
      { site: form(toField(kind, 'site')) !== '', mail: form(toField(kind, 'mail')) !== '' },
    ]),
  ) as Partial<NotificationChoices>;
  await services.portal.notifications.writeChoices(visitor.user!.ID, choices);
  await auditForm('chooseNotifications', request, visitor.user, 303, services);
  return { redirect: `${notificationsPath}?done=saved` };
}

export const notificationPages: readonly SitePage[] = [
  { method: 'GET', path: notificationsPath, access: 'user', respond },
  { method: 'POST', path: readPath, access: 'user', respond: submitRead },
  { method: 'POST', path: choicesPath, access: 'user', respond: submitChoices },
];
