import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { SelectField, TextField, type TextFieldProps } from '../../kit/field.tsx';
import { focusFirstFault } from '../../kit/focus-fault.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { useSession } from '../session/session.ts';
import { type PasswordLink, PasswordLinkDialog } from './password-link-dialog.tsx';
import { canCreateLinks, listGrantableRoles, type RoleName, rolePermissions } from './roles.ts';

const own = texts.users;
const emptyUser = { first_name: '', last_name: '', email_address: '', password: '' };

type UserFaults = { readonly [Member in keyof typeof emptyUser]?: string };

/** Faults that are found without the server; it decides about duplicates and the rules of passwords. */
function findUserFaults(user: typeof emptyUser, hasLink: boolean): UserFaults {
  return {
    ...(user.first_name.trim() === '' && { first_name: own.firstNameMissing }),
    ...(user.last_name.trim() === '' && { last_name: own.lastNameMissing }),
    ...(!/^[^@\s]+@[^@\s]+$/.test(user.email_address) && { email_address: own.emailInvalid }),
    ...(!hasLink && user.password === '' && { password: own.passwordMissing }),
  };
}

/** Creates a user, then a link with which the user sets a password; without the right to links, with a password. */
export function NewUserPage() {
  const session = useSession();
  const roles = listGrantableRoles(session);
  const hasLink = canCreateLinks(session);
  const [user, setUser] = useState(emptyUser);
  const [role, setRole] = useState<RoleName | undefined>(roles[0]);
  const { link, create, error, isPending, close } = useNewUser(hasLink);
  const [faults, setFaults] = useState<UserFaults>({});
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const found = findUserFaults(user, hasLink);
    setFaults(found);
    if (Object.keys(found).length > 0) return focusFirstFault(event.currentTarget);
    if (role) create({ ...user, active: true, user_permissions: { ...rolePermissions[role] } });
  };
  const textOf = (member: keyof typeof emptyUser) => ({
    value: user[member],
    error: faults[member],
    required: true,
    onChange: (event: { target: { value: string } }) => setUser({ ...user, [member]: event.target.value }),
  });
  return (
    <PageFrame title={own.newTitle} width="form">
      <form onSubmit={submit} noValidate className="flex max-w-[720px] flex-col gap-4">
        <ErrorText error={roles.length === 0 ? new Error(own.noRole) : error} />
        <Card>
          <div className="flex flex-col gap-4">
            <div className="grid gap-4 min-[600px]:grid-cols-2">
              <TextField label={own.firstName} maxLength={100} autoComplete="off" {...textOf('first_name')} />
              <TextField label={own.lastName} maxLength={100} autoComplete="off" {...textOf('last_name')} />
            </div>
            <TextField
              label={own.email}
              type="email"
              help={own.emailHelp}
              autoComplete="off"
              {...textOf('email_address')}
            />
            <SelectField
              label={own.role}
              help={own.roleHelp}
              value={role ?? ''}
              onChange={event => setRole(event.target.value as RoleName)}
              options={roles.map(value => ({ value, label: own.roles[value] }))}
            />
            <PasswordField hasLink={hasLink} {...textOf('password')} />
          </div>
        </Card>
        <FormActions isBusy={isPending} isDisabled={role === undefined} />
      </form>
      {link && <PasswordLinkDialog link={link} isInvitation onClose={close} />}
    </PageFrame>
  );
}

/** Without the right to create links the user gets a password. */
const PasswordField = ({ hasLink, ...rest }: { hasLink: boolean } & Omit<TextFieldProps, 'label'>) =>
  hasLink ? (
    <p className="text-dim">{own.linkHelp}</p>
  ) : (
    <TextField label={own.password} type="password" help={own.passwordHelp} autoComplete="new-password" {...rest} />
  );

function FormActions({ isBusy, isDisabled }: { isBusy: boolean; isDisabled: boolean }) {
  return (
    <div className="flex justify-end gap-2">
      <Link to="/users" className={buttonClass()}>
        {texts.kit.cancel}
      </Link>
      <Button kind="primary" type="submit" isBusy={isBusy} disabled={isDisabled}>
        {own.createAction}
      </Button>
    </div>
  );
}

interface UserBody {
  readonly first_name: string;
  readonly last_name: string;
  readonly email_address: string;
  readonly password: string;
  readonly active: true;
  readonly user_permissions: Record<string, 'read' | 'write' | 'admin'>;
}

/** The create and the link after it. A failed link leaves the user, whose row in the list offers another. */
function useNewUser(hasLink: boolean) {
  const navigate = useNavigate();
  const toasts = useToasts();
  const [link, setLink] = useState<PasswordLink>();
  const creation = useWrite('POST /api/users', ['GET /api/users']);
  const linking = useWrite('POST /api/users/{userId}/actions/reset-link');
  const close = () => void navigate({ to: '/users' });
  const createLink = (userId: string, email: string) =>
    linking.mutate(
      { given: { params: { userId } } },
      {
        onSuccess: ({ value }) => setLink({ email, meta: value.Meta }),
        onError: error => {
          toasts.showError(own.createdWithoutLink(error.message));
          close();
        },
      },
    );
  const finish = (email: string) => {
    toasts.showSuccess(own.created(email));
    close();
  };
  const create = ({ password, ...user }: UserBody) =>
    creation.mutate(
      { given: { body: hasLink ? user : { ...user, password } } },
      {
        onSuccess: ({ value }) =>
          hasLink ? createLink(String(value.Meta), user.email_address) : finish(user.email_address),
      },
    );
  const isPending = creation.isPending || linking.isPending || link !== undefined;
  return { link, create, close, error: creation.error, isPending };
}
