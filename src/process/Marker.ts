/**
 * The mark that every child process carries in its environment, and passes on to whatever it starts: it tells whose process it
 * is even when it has left its group, its session and its parent.
 */

/** The name of the variable. */
export const variable = "TROUPE_PROCESS"

/** Whose children: a data directory on this machine, and one life of a daemon in it. */
export interface Owner {
  /** The same for the same directory under every name. */
  readonly directory: string
  readonly incarnation: string
}

/** The mark of all children of the directory, in whatever life of its daemon. */
export const ofDirectory = ({ directory }: Pick<Owner, "directory">): string => `${directory}/`

/** The mark of all children of one life. */
export const ofIncarnation = (owner: Owner): string => `${ofDirectory(owner)}${owner.incarnation}/`

/** The mark of one run; `number` tells the runs of one life apart. */
export const ofRun = (owner: Owner, number: number): string => `${ofIncarnation(owner)}${number}/`
