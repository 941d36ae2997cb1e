/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shell only hands the words of its line over: what can follow is found here, from the same
 * records as everything else, so that completion cannot disagree with the program it completes.
 */
#include <stdio.h>
#include <string.h>

#include "runner/command.h"
#include "runner/words.h"

/*
 * The line is split here because bash splits at the ':' of debian:bookworm and the '=' of
 * --store=DIR, too; what it has split off must not be repeated in the replies. No reply: file
 * names.
 */
static const char bash_script[] =
	"# bash completion of numalab; made by 'numalab completion bash'\n"
	"_numalab() {\n"
	"	local line=${COMP_LINE:0:COMP_POINT} words cur head breaks=\n"
	"	read -ra words <<<\"$line\"\n"
	"	[[ $line == *[[:space:]] ]] && words+=(\"\")\n"
	"	cur=${words[${#words[@]} - 1]}\n"
	"	mapfile -t COMPREPLY < <(\"${words[0]}\" completion bash -- \"${words[@]:1}\" "
	"2>/dev/null)\n"
	"	[[ $COMP_WORDBREAKS == *:* ]] && breaks+=:\n"
	"	[[ $COMP_WORDBREAKS == *=* ]] && breaks+==\n"
	"	[[ -n $breaks ]] && head=${cur%\"${cur##*[$breaks]}\"}\n"
	"	COMPREPLY=(\"${COMPREPLY[@]#\"$head\"}\")\n"
	"	[[ ${#COMPREPLY[@]} -gt 0 && -n ${COMPREPLY[0]} ]] || COMPREPLY=()\n"
	"}\n"
	"complete -o bashdefault -o default -F _numalab numalab\n";

static int run(int argc, char **argv, CommandContext *context, GError **error)
{
	g_auto(GStrv) replies = NULL;

	if (!words_check_shell(argv[0], error))
		return COMMAND_FAILED;
	if (argc == 1) {
		fputs(bash_script, stdout);
		return 0;
	}
	replies = words_complete((const char *const *)argv + 1, context);
	for (char **r = replies; *r; r++)
		puts(*r);
	return 0;
}

const Command cmd_completion = {
	.name = "completion",
	.group = COMMAND_GROUP_LAB,
	.order = 30,
	.arguments = "SHELL [WORD...]",
	.summary = "Print a shell's completion script",
	.description = "The only SHELL is bash. To have completion in a shell:\n\n"
		       "    eval \"$(numalab completion bash)\"\n\n"
		       "Verbs, options, runs, scenarios, topologies, images and kernels are "
		       "completed. With WORDs, "
		       "print what the last of them could become; this is what the script does. "
		       "Arguments that are "
		       "options come after '--'.",
	.run = run,
};
COMMAND_REGISTER(cmd_completion);
