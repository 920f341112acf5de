import type { StoredTeam } from '../../organisations/schema.ts';
import type { MemberRole } from '../../users/member-changes.ts';
import { type FieldErrors, renderSelectField } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import { renderScrollRegion } from '../scroll-region.ts';
import { roleNames } from './member-words.ts';

const rights: readonly (readonly [right: string, developer: boolean])[] = [
  ['Use and create apps', true],
  ['See the apps of the organisation', true],
  ['See all apps of the members, with their keys', false],
  ['Invite, change and remove members', false],
];

const renderRights = () => {
  const table = html`<table><thead><tr><th scope="col">Right</th>
<th scope="col">${roleNames['consumer-team-member']}</th><th scope="col">${roleNames['consumer-admin']}</th></tr></thead>
<tbody>${rights.map(
    ([right, developer]) =>
      html`<tr><th scope="row">${right}</th><td>${developer ? 'Yes' : 'No'}</td><td>Yes</td></tr>`,
  )}</tbody></table>`;
  return html`<details><summary>What the roles may do</summary>${renderScrollRegion('Rights of the roles', table)}</details>`;
};

/** Role of a member, with what it may do. */
export const renderRoleField = (value: string, errors: FieldErrors): Markup =>
  html`${renderSelectField({
    name: 'role',
    label: 'Role',
    value,
    error: errors.get('role'),
    options: [
      ['consumer-team-member', roleNames['consumer-team-member']],
      ['consumer-admin', roleNames['consumer-admin']],
    ],
  })}${renderRights()}`;

export const readRoleField = (text: string, errors: Map<string, string>): MemberRole => {
  if (text === 'consumer-admin' || text === 'consumer-team-member') return text;
  errors.set('role', 'Choose a role');
  return 'consumer-team-member';
};

/** A tick for each team; without one the member is in the team of the whole organisation. */
export const renderTeamFields = (teams: readonly StoredTeam[], chosen: ReadonlySet<number>): Markup | '' =>
  teams.length < 2
    ? ''
    : html`<fieldset class="field"><legend>Teams</legend>${teams.map(
        ({ ID, Name }) => html`<label class="tick"><input type="checkbox" name="team_${ID}" value="on"
${chosen.has(ID) ? html` checked` : ''}> ${Name}</label>`,
      )}</fieldset>`;
