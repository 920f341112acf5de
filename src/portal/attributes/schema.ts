import { z } from 'zod';
import { isGatewayMetadata } from '#access/keys/metadata-names.ts';
import { readOnlyMembers } from '#base/members.ts';
import { findRegexError } from '#base/regex.ts';
import { formatOptionalTime, intBetween, lenientBool, nonEmptyText, optionalMember, textUpTo } from '../shapes.ts';

/** Custom attributes of users, and the built-in ones that can be copied into the metadata of keys. */
export const attributeTypes = { 1: 'String', 2: 'Dropdown', 3: 'Boolean', 4: 'Number' } as const;
const behaviours = { 1: 'Edit and view', 2: 'View', 3: 'Hidden' } as const;
export type AttributeType = keyof typeof attributeTypes;

/** Names that every key of the portal has in its metadata, or may have by a default attribute. */
const defaultNames = [
  'DeveloperID',
  'ApplicationID',
  'OrganisationID',
  'TeamIDs',
  'First',
  'Last',
  'Email',
  'Role',
  'Organisation',
  'TeamNames',
];
const reservedIdentifiers = new Set(defaultNames.map(name => name.toLowerCase()));

const identifier = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be 1 to 100 letters, digits, _ and -')
  .refine(text => !reservedIdentifiers.has(text.toLowerCase()), 'is the name of a default attribute')
  .refine(text => !isGatewayMetadata(text), 'is a metadata name of the gateway')
  .refine(text => text !== '__proto__', 'cannot be used');

const pattern = z.string().superRefine((text, context) => {
  const message = text === '' ? undefined : findRegexError(text);
  if (message) context.addIssue({ code: 'custom', message });
});

const writable = z.object({
  Identifier: identifier,
  Name: nonEmptyText(),
  Description: optionalMember(textUpTo(1000)),
  Type: intBetween(1, 4).describe('1 text, 2 choice, 3 boolean, 4 number'),
  Behaviour: optionalMember(intBetween(1, 3)).describe(
    'What the user may do on the profile page of the site: 1 view and edit, 2 view, 3 hidden; a new attribute has 2 ' +
      'with AddToKeyMetadata and without ShowOnSignUp, and otherwise 1',
  ),
  DropdownValues: optionalMember(textUpTo(10_000)).describe('Choices, separated by commas'),
  ValidationRegExp: optionalMember(pattern).describe('RE2 pattern that a text contains'),
  AddToKeyMetadata: optionalMember(lenientBool),
  Required: optionalMember(lenientBool),
  ShowOnSignUp: optionalMember(lenientBool).describe('The sign-up of the site asks for it'),
  WriteOnceReadMany: optionalMember(lenientBool),
});
const readOnly = ['ID', 'ValueCount', 'CreatedAt', 'UpdatedAt'];
export const AttributeWrite = readOnlyMembers(writable, readOnly);
export const AttributeChange = readOnlyMembers(
  writable.partial({ Identifier: true, Name: true, Type: true }),
  readOnly,
);
export type AttributeChange = z.output<typeof AttributeChange>;

export interface StoredAttribute {
  ID: number;
  ModelID: number;
  Identifier: string;
  Name: string;
  Description: string;
  Type: AttributeType;
  Behaviour: keyof typeof behaviours;
  DropdownValues: string;
  ValidationRegExp: string;
  AddToKeyMetadata: boolean;
  Required: boolean;
  ShowOnSignUp: boolean;
  WriteOnceReadMany: boolean;
  CreatedAt: number;
  UpdatedAt: number;
}

export interface StoredAttributeValue {
  ID: number;
  UserID: number;
  AttributeID: number;
  Value: string;
}

export interface DefaultAttribute {
  ID: number;
  Label: string;
  AddToKeyMetadata: boolean;
}

/** Model with attributes: `User` is the only one. */
export interface StoredAttributeModel {
  ID: number;
  ModelName: string;
  Defaults: DefaultAttribute[];
  /** 0 until the first change. */
  UpdatedAt: number;
}

const flags = {
  AddToKeyMetadata: z.boolean(),
  Required: z.boolean(),
  ShowOnSignUp: z.boolean(),
  WriteOnceReadMany: z.boolean(),
};

export const CustomAttribute = z.object({
  ...flags,
  ID: z.int(),
  Identifier: z.string(),
  Name: z.string(),
  Description: z.string(),
  Type: z.int(),
  Behaviour: z.int(),
  DropdownValues: z.string(),
  ValidationRegExp: z.string(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});
/** Attribute with the number of users who have a value. */
export const CountedAttribute = CustomAttribute.extend({ ValueCount: z.int() });
export const DefaultAttributeView = z.object({ ID: z.int(), Label: z.string(), AddToKeyMetadata: z.boolean() });
export const DefaultAttributeChange = readOnlyMembers(z.object({ AddToKeyMetadata: lenientBool }), ['ID', 'Label']);

export const AttributeModelRow = z.object({
  ID: z.int(),
  ModelName: z.string(),
  LastUpdatedBy: z.string(),
  UpdatedAt: z.string(),
});
export const AttributeModel = AttributeModelRow.extend({
  CustomAttributes: z.array(CustomAttribute),
  DefaultAttributes: z.array(DefaultAttributeView),
});

/** Value of a user, always as text; empty where none is set. */
export const UserAttribute = z.object({
  ID: z.int(),
  Value: z.string(),
  CustomAttribute: z.object({
    ...flags,
    Name: z.string(),
    Identifier: z.string(),
    Type: z.string(),
    Behaviour: z.string(),
  }),
});
const maxValueLength = 1000;
export const UserAttributeChange = readOnlyMembers(
  z.object({
    Value: z.union([textUpTo(maxValueLength), z.boolean().transform(String), z.number().transform(String)], {
      error: `must be a text of at most ${maxValueLength} characters`,
    }),
  }),
  ['ID', 'CustomAttribute'],
);

export const toAttributeView = ({ ModelID: _model, ...it }: StoredAttribute) => ({
  ...it,
  CreatedAt: formatOptionalTime(it.CreatedAt),
  UpdatedAt: formatOptionalTime(it.UpdatedAt),
});

export const toModelRow = ({ ID, ModelName, UpdatedAt }: StoredAttributeModel) => ({
  ID,
  ModelName,
  // The token of the management API belongs to the operator, not to a user.
  LastUpdatedBy: '',
  UpdatedAt: UpdatedAt === 0 ? '' : formatOptionalTime(UpdatedAt),
});

export const toUserAttributeView = (it: StoredAttribute, Value: string): z.output<typeof UserAttribute> => ({
  ID: it.ID,
  Value,
  CustomAttribute: {
    Name: it.Name,
    Identifier: it.Identifier,
    Type: attributeTypes[it.Type],
    Behaviour: behaviours[it.Behaviour],
    AddToKeyMetadata: it.AddToKeyMetadata,
    Required: it.Required,
    ShowOnSignUp: it.ShowOnSignUp,
    WriteOnceReadMany: it.WriteOnceReadMany,
  },
});
