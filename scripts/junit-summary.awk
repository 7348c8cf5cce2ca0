# Reads what `ctest --output-junit` wrote and prints one line per test, fields separated by tabs:
#
#     passed  NAME
#     failed  NAME  WHY
#     skipped NAME  REASON        the reason is from the test's line "skipped, because ..."
#     partly  NAME  REASON        passed, but a part of it printed "skipped, because ..."
#
# A skip without a reason is a failure, and so is a test that could not be run at all.

function unescape(text)
{
    gsub(/&lt;/, "<", text)
    gsub(/&gt;/, ">", text)
    gsub(/&quot;/, "\"", text)
    gsub(/&apos;/, "'", text)
    gsub(/&amp;/, "\\&", text)
    return text
}

function attribute(name,    text)
{
    if (!match($0, "[ \t]" name "=\"[^\"]*\""))
        return ""
    text = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
    return unescape(text)
}

function finish(    i)
{
    if (status == "run") {
        print "passed\t" name
        for (i = 1; i <= reasons; i++)
            print "partly\t" name "\t" reason[i]
    } else if (status == "fail") {
        print "failed\t" name "\tsee its output above"
    } else if (skip_message !~ /^SKIP_RETURN_CODE/) {
        print "failed\t" name "\t" (skip_message != "" ? skip_message : "not run: " status)
    } else if (reasons == 0) {
        print "failed\t" name "\tit was skipped without saying \"skipped, because ...\""
    } else {
        print "skipped\t" name "\t" reason[1]
    }
}

/^[ \t]*<testcase / {
    name = attribute("name")
    status = attribute("status")
    skip_message = ""
    reasons = 0
}

/^[ \t]*<skipped / { skip_message = attribute("message") }

{
    line = $0
    sub(/^[ \t]*<system-out>/, "", line)
    sub(/<\/system-out>.*/, "", line)
    at = index(line, "skipped, because ")
    if (at) {
        line = unescape(substr(line, at + length("skipped, because ")))
        gsub(/\t/, " ", line)
        reason[++reasons] = line
    }
}

/^[ \t]*<\/testcase>/ { finish() }
