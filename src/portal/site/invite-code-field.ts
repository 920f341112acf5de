import { Problem } from '#base/problems.ts';
import { findCodeTeam } from '../invite-codes/redemption.ts';
import { type FieldErrors, renderField } from './form.ts';
import type { Markup } from './markup.ts';
import type { SiteRequest, SiteServices } from './page.ts';

/** Field `invite_id` of the sign-up: a code that names the team of the account. */

const maxCodeChars = 64;

export interface InviteCodeChoice {
  readonly codeId: number;
  /** The team and its organisation, in words. */
  readonly joins: string;
}

export const renderCodeField = ({ query, form }: SiteRequest, errors: FieldErrors, joins = ''): Markup =>
  renderField({
    name: 'invite_id',
    label: 'Invite code',
    value: (form('invite_id') || query('invite')).slice(0, maxCodeChars),
    help: joins && `You join ${joins}.`,
    error: errors.get('invite_id'),
    maxLength: maxCodeChars,
    isOptional: true,
  });

/**
 * The team of a typed code; a fault is added to `errors`. Each code counts as a failed sign-in of the client until it
 * is found, so that codes cannot be guessed.
 */
export async function readInviteCode(
  text: string,
  { address }: SiteRequest,
  errors: Map<string, string>,
  services: SiteServices,
): Promise<InviteCodeChoice | undefined> {
  if (text.trim() === '') return undefined;
  const attempt = services.portalSignInLimit.beginFromAddress(address);
  try {
    const { codeId, team } = await findCodeTeam(text, services);
    attempt.succeed();
    const organisation = await services.portal.organisations.get(team.OrganisationID);
    return {
      codeId,
      joins: team.Default ? (organisation?.Name ?? team.Name) : `${team.Name} of ${organisation?.Name}`,
    };
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 422) throw error;
    errors.set('invite_id', error.message);
    return undefined;
  }
}
