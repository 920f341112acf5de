import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { SecretText } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { formatTime } from '../../kit/format.ts';
import { LocalLinkNote } from '../../kit/local-link-note.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.users;

export interface PasswordLink {
  readonly email: string;
  readonly meta: ResultOf<'POST /api/users/{userId}/actions/reset-link'>['Meta'];
}

interface PasswordLinkProps {
  readonly link: PasswordLink;
  /** Link of a new user. */
  readonly isInvitation?: boolean;
  onClose(): void;
}

/** The link, shown once; closed by its button only. */
export const PasswordLinkDialog = ({ link: { email, meta }, isInvitation = false, onClose }: PasswordLinkProps) => (
  <Dialog
    isOpen
    isModalOnly
    onClose={onClose}
    title={(isInvitation ? own.inviteTitle : own.linkTitle)(email)}
    about={(isInvitation ? own.inviteAbout : own.linkAbout)(formatTime(Date.parse(meta.expires_at)))}
    footer={
      <Button kind="primary" onClick={onClose}>
        {isInvitation ? own.inviteDone : own.linkDone}
      </Button>
    }
  >
    <SecretText secret={meta.link} isShownOnce />
    <LocalLinkNote link={meta.link} setting="dashboard.url" />
  </Dialog>
);
