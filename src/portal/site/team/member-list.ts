import type { StoredInvitation } from '../../invitations/schema.ts';
import { isInvitationExpired } from '../../invitations/schema.ts';
import { partnersOf } from '../../join-table-store.ts';
import { defaultOrganisationId } from '../../organisations/schema.ts';
import { isOrganisationAdmin } from '../../users/member-changes.ts';
import { findVisibleUsers } from '../../visibility/kinds.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import {
  organisationPath,
  type SiteDocument,
  type SitePage,
  type SiteRequest,
  type SiteServices,
  teamPath,
} from '../page.ts';
import { renderScrollRegion } from '../scroll-region.ts';
import { formatDay } from '../words.ts';
import { invitePath, nameMember, roleNames, toMemberUrl } from './member-words.ts';

/** Members shown, oldest first. */
const maxMembers = 1000;

const notices: Readonly<Record<string, string>> = {
  invited: 'The invitation was sent.',
  resent: 'A new link was sent; the former one ended.',
  cancelled: 'The invitation was cancelled.',
  saved: 'The member was saved.',
  removed: 'The member was removed from the organisation.',
};

/** Members whom a developer sees: those of the same teams, or all of the organisation for its admin. */
async function respond(request: SiteRequest, services: SiteServices): Promise<SiteDocument | undefined> {
  const { rights, user } = request.visitor;
  // Administrators of the portal have no organisation: its operations list all users.
  if (rights.kind !== 'developer') return undefined;
  const canManage = isOrganisationAdmin(user!);
  const isInOrganisation = rights.organisationId !== defaultOrganisationId;
  const organisation = await services.portal.organisations.get(rights.organisationId);
  const invitations = canManage ? await services.portal.invitations.ofOrganisation(rights.organisationId) : [];
  const canAsk = services.settings['portal.organisation_requests'] !== 'off';
  const notice = Object.hasOwn(notices, request.query('done')) ? notices[request.query('done')] : undefined;
  return {
    title: 'Users',
    section: 'profile',
    main: html`<div class="head"><h1>Team</h1><p class="dim">${isInOrganisation ? (organisation?.Name ?? '') : ''}</p>
${canManage ? html`<a class="button" href="${invitePath}">Invite</a>` : ''}</div>
${notice ? html`<p class="message" role="status">${notice}</p>` : ''}
${
  isInOrganisation
    ? ''
    : html`<p class="dim">You are in no organisation yet, so the team is you alone.
${canAsk ? html`<a href="${organisationPath}">Create an organisation</a> to invite others.` : ''}</p>`
}${await renderMembers(request, canManage, services)}
${invitations.length > 0 ? renderInvitations(invitations, request, services) : ''}`,
  };
}

async function renderMembers({ visitor }: SiteRequest, canManage: boolean, services: SiteServices): Promise<Markup> {
  const { portal } = services;
  const members = (await findVisibleUsers(visitor.rights, services)).slice(0, maxMembers);
  const teamIds = await portal.teams.members.leftOf(members.map(({ ID }) => ID));
  const teams = await portal.teams.byIds([...teamIds.values()].flat());
  const nameTeams = (id: number) =>
    partnersOf(teamIds, id)
      .flatMap(it => teams.get(it)?.Name ?? [])
      .join(', ');
  const table = html`<table><thead><tr><th scope="col">Name</th><th scope="col">E-mail</th><th scope="col">Role</th>
<th scope="col">Teams</th><th scope="col">Since</th><th scope="col">State</th></tr></thead><tbody>${members.map(
    it => html`<tr><th scope="row">${
      canManage ? html`<a href="${toMemberUrl(it.ID)}">${nameMember(it)}</a>` : nameMember(it)
    }</th><td>${it.Email}</td><td>${roleNames[it.Role]}</td><td>${nameTeams(it.ID)}</td>
<td>${formatDay(it.CreatedAt)}</td><td>${it.Active ? 'Active' : 'Not active'}</td></tr>`,
  )}</tbody></table>`;
  return renderScrollRegion('Members', table);
}

const actionLabels = {
  resend: ['Send again', 'Send again to'],
  cancel: ['Cancel', 'Cancel invitation of'],
} as const;

function renderInvitations(
  invitations: readonly StoredInvitation[],
  { visitor }: SiteRequest,
  { clock }: SiteServices,
): Markup {
  const describe = (it: StoredInvitation) =>
    isInvitationExpired(it, clock.now()) ? 'Expired' : `Invited, until ${formatDay(it.ExpiresAt)}`;
  const renderAction = (action: keyof typeof actionLabels, { ID, Email }: StoredInvitation) =>
    html`<form method="post" action="${teamPath}/invitations/${ID}/${action}">${renderCsrfField(visitor.csrfToken)}
<button class="quiet" aria-label="${actionLabels[action][1]} ${Email}">${actionLabels[action][0]}</button></form>`;
  const table = html`<table><thead><tr><th scope="col">E-mail</th><th scope="col">Role</th>
<th scope="col">State</th><th scope="col">Actions</th></tr></thead><tbody>${invitations.slice(0, maxMembers).map(
    it => html`<tr><th scope="row">${it.Email}</th><td>${roleNames[it.Role]}</td><td>${describe(it)}</td>
<td><div class="row-actions">${renderAction('resend', it)}${renderAction('cancel', it)}</div></td></tr>`,
  )}</tbody></table>`;
  return html`<h2>Invitations</h2>${renderScrollRegion('Invitations', table)}`;
}

export const memberListPages: readonly SitePage[] = [{ method: 'GET', path: teamPath, access: 'user', respond }];
