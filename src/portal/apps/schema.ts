import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { intBetween, lenientBool, lenientInt, line, orNothing, requiredLine, shownTime } from '../shapes.ts';

/** Something a developer builds, which asks for access and holds credentials. */
const visibility = z.enum(['personal', 'team', 'organisation']);

const writable = {
  Description: orNothing(z.string().max(10_000)),
  RedirectURLs: orNothing(line(10_000)),
  Visibility: orNothing(visibility),
};
const readOnly = ['ID', 'CreatedAt', 'UpdatedAt', 'AccessRequests'];
export const AppWrite = readOnlyMembers(z.object({ ...writable, Name: requiredLine(), UserID: lenientInt }), readOnly);
export const AppChange = readOnlyMembers(
  z.object({ ...writable, Name: orNothing(requiredLine()), UserID: orNothing(lenientInt) }),
  readOnly,
);

export const Provision = z.object({
  PlanID: lenientInt,
  ProductIDs: z.array(intBetween(1, Number.MAX_SAFE_INTEGER)).min(1, 'must name a product').max(100),
  /** The catalogue both are in, by number or name; found when left out. */
  Catalogue: orNothing(z.union([lenientInt, requiredLine()])),
  ProvisionImmediately: orNothing(lenientBool),
});
export type Provision = z.output<typeof Provision>;

export interface StoredApp {
  ID: number;
  Name: string;
  Description: string;
  RedirectURLs: string;
  UserID: number;
  Visibility: z.output<typeof visibility>;
  CreatedAt: number;
  UpdatedAt: number;
}

export const AppRow = z.object({
  ID: z.int(),
  Name: z.string(),
  Description: z.string(),
  RedirectURLs: z.string(),
  UserID: z.int(),
  Visibility: visibility,
  CreatedAt: z.string(),
});

export const appRow = ({ ID, Name, Description, RedirectURLs, UserID, Visibility, CreatedAt }: StoredApp) => ({
  ID,
  Name,
  Description,
  RedirectURLs,
  UserID,
  Visibility,
  CreatedAt: shownTime(CreatedAt),
});
