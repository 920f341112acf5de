import { describeLocalLink } from '../texts/en/local-link.ts';

interface LocalLinkNoteProps {
  readonly link: string;
  /** Setting with the address that links begin with. */
  readonly setting: string;
}

/** Warning beside a link to hand on whose address only this computer has. */
export const LocalLinkNote = ({ link, setting }: LocalLinkNoteProps) =>
  URL.parse(link)?.hostname === 'localhost' ? <p className="mt-2 text-small">{describeLocalLink(setting)}</p> : null;
